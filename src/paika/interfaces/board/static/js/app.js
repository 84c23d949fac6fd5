// @ts-check
// Everything a page does beyond links and forms starts here.
import { startLive } from "./live.js";
import { startTips } from "./tip.js";
import { startKeys } from "./keys.js";
import { startDialogs } from "./dialog.js";
import { startForms } from "./form.js";
import { startLogs } from "./log.js";

startDialogs();
startForms();
startTips();
startKeys();
startLogs();
startLive();
