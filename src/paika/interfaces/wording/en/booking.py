"""Bookings, maintenance and guarantees."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "reservation.clash": (
        "{cards}: {purpose:word.reserved_for}{team:opt.reserved_team} from {starts_at:when} until {ends_at:when} "
        "({reservation}), and the times overlap.",
        "Take another time or other cards, or go on the waiting list and get them as soon as they come free.",
    ),
    "reservation.window_full": (
        "{wanted} cards are wanted then (at least {together} together on one machine) "
        "and only {room} are not booked yet: {others}.",
        "{fits_at:opt.fits_at}",
    ),
    "reservation.too_few": (
        "{wanted} cards are wanted (at least {together} together on one machine), and only {have} in the house fit.",
        "Ask for fewer cards, allow more card types, or ask for fewer together.",
    ),
    "reservation.lease_ends": (
        "The lease of {cards} ends at {ends_at:when}, before the window does.",
        "Renew the lease, end the window before that, or take other cards.",
    ),
    "reservation.over_quota": (
        "Team {team} may hold {max_cards} cards; at {at:when} it has {booked} booked already, and {asked} more are "
        "too many.",
        "Book fewer cards or at another time, or ask an admin for more quota.",
    ),
    "reservation.past": (
        "{at:when} is over (it is {now:when} now); what is past can be neither booked nor changed.",
        "Start now or later; leave the start empty to start now.",
    ),
    "reservation.begun": (
        "Reservation {reservation} began at {starts_at:when}; only its end and its title may still change.",
        "Cancel it (what has passed stays as it was), and book the rest of the time anew.",
    ),
    "reservation.over": (
        "Reservation {reservation} is over ({state:word.booking.state}, {ended_at:when}) and cannot be changed.",
        "Book anew if cards are needed.",
    ),
    "guarantee.no_room": (
        "At {at:when} it does not fit: guarantee {guarantee} of team {team} needs {cards} cards ({together} together "
        "on one machine), and beside other guarantees, reservations and ended leases there are {room}.",
        "Guarantee fewer cards, allow more types, ask for fewer together, renew a lease, or move a reservation of "
        "that time.",
    ),
}

WORDS: dict[str, str] = {
    "opt.fits_at": "It would fit from {value:when}; or go on the waiting list and get them as they come free.",
    "opt.fits_at.none": "Book fewer cards, allow more types, or go on the waiting list and get them as they come free.",
    "booking.state.listed": "listed",
    "booking.state.booked": "booked",
    "booking.state.released": "released",
    "booking.state.cancelled": "cancelled",
    "booking.state.over": "over",
    "booking.state.asked": "to be approved",
    "booking.state.now": "under way",
    "booking.cause.no_show": "nobody came, released",
    "booking.cause.expired": "never came free in time",
    "booking.purpose.booking": "booking",
    "booking.purpose.maintenance": "maintenance",
    "api.noun.reservation": "reservation",
    "api.noun.guarantee": "guarantee",
    "api.state.listed": "listed",
    "api.state.booked": "booked",
    "api.state.released": "released",
    "api.event.approve": "approve",
    "api.act.book_cards": "book cards",
    "api.act.approve_booking": "approve bookings of the team",
    "api.act.book_maintenance": "plan maintenance",
    "api.act.change_booking": "change this booking",
}
