"""What demo tasks run: prints like a training, for a number of seconds, then ends as told. Standard library only."""

import os
import sys
import time


def main() -> int:
    """argv: seconds, exit code. Leaves one line a start in $DEMO_STARTS, so that a second start would show."""
    seconds, code = float(sys.argv[1]), int(sys.argv[2])
    record = os.environ.get("DEMO_STARTS")
    if record and os.environ.get("PAIKA_RANK", "0") == "0":
        descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{os.environ['PAIKA_RUN']}\n".encode())
        os.close(descriptor)
    print(f"cards {os.environ.get('PAIKA_CARDS')} on {os.environ.get('PAIKA_NODE')}", flush=True)
    begun = time.monotonic()
    step = 0
    while (gone := time.monotonic() - begun) < seconds:
        step += 1
        print(f"step {step} loss {2.5 / (1 + 0.2 * step):.4f} elapsed {gone:.1f}s", flush=True)
        time.sleep(min(0.5, max(0.01, seconds - gone)))
    print("done" if code == 0 else "giving up", flush=True)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
