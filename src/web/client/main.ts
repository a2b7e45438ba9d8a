import { startConflicts, startVerifying } from './conflicts.tsx'
import { startDiff } from './diff.ts'
import { startDisclosures } from './disclosure.ts'
import { startForms } from './forms.tsx'
import { startKeys } from './keys.ts'
import { startListReturn } from './list-return.ts'
import { startLive } from './live.ts'
import { startWrapping } from './log-view.ts'
import { startCopying, startNotices } from './notices.ts'
import { startRestoringFocus } from './restore-focus.ts'
import { startTabMark } from './tab-mark.ts'
import { startTimes } from './times.ts'

/*
 * The attributes with which pages, style sheets and scripts speak to each other; test/web/data-attributes.ts proves that
 * the list is complete.
 *
 * Forms that are sent to the API as JSON (forms.tsx, form-fields.ts)
 *   data-send          the method; `action` is the URL, each named control a field
 *   data-if-match      the ETag of what the form shows, sent as If-Match
 *   data-only-changed  send only the fields that were changed
 *   data-empty         on a control: what an empty one sends: `omit` nothing, `null` null
 *   data-list          on a control: it sends a list, split at `spaces` or `commas`, or one of `requirements` by line;
 *                      `lines`: as `line` and `end_line`; `json`: the value that the text is in JSON;
 *                      `fields`: the fields that the text is in JSON, which replace others
 *   data-requirement   the line that the button adds to the proof of a new case (new-case.tsx)
 *   data-confirm       the question to ask before sending
 *   data-then          where to go after a success, with `{name}` from the answer; else the page is refreshed
 *   data-focus         what gets the focus after a success: a selector with `{name}` from the answer
 *   data-conflict      the form follows the page while it is open; the value names what it edits (conflicts.tsx)
 *   data-about         what the form answers; if that changes meanwhile, it is a conflict
 *   data-barred        Approve is not possible whatever the plan says (plan-approval.tsx)
 *   data-approvals     how often a plan of this session was approved (plan-approval.tsx)
 *   data-dirty         set by the script: it has unsaved changes
 *   data-busy          set by the script: it is being sent
 *
 * Refreshes (refresh.ts)
 *   data-live          on the body: the URL of the events that change the page
 *   data-events        on the body: their names
 *   data-keep          belongs to the script once it is loaded: a refresh leaves it alone
 *   data-own           added by the script: a refresh does not remove it
 *   data-connection    set by the script: whether the page is `live` or `cut` off from the service
 *
 * Keys and buttons (keys.ts, disclosure.ts, notices.ts)
 *   data-key           the key that clicks or focuses it
 *   data-key-name      what the key does, if the element's own name does not say it
 *   data-row           a row for j and k
 *   data-help          opens the list of keys
 *   data-palette       opens the search (search/client.tsx)
 *   data-opens         the id of the disclosure that the button opens
 *   data-copy          the text that the button copies
 *   data-copy-from     the address of the text that the button copies
 *
 * The list of cases (list*.ts)
 *   data-filter        a link that filters the list
 *   data-return        a link that leads back to the list as it was left
 *   data-plans         on the form that approves the plans which were read: these plans, as JSON (seen-plans.tsx)
 *
 * Who plans (setup.ts)
 *   data-agents        shows the agents of this machine: whether they are `known`, or the script has to ask
 *   data-find-agents   the button that asks again
 *   data-no-runbook    around the form of a session: without an agent there is nothing to plan with
 *   data-proposed      of the form of an intent: the address of what its empty fields get
 *   data-run-tests     the id of the case whose tests the button runs
 *   data-template      on a file that does not exist yet: the text to begin with (memory-editor.tsx)
 *
 * Diffs (diff.ts)
 *   data-diff          a diff
 *   data-file          on a file of a diff: its name; all lines of the file are inside
 *   data-side          on the code of a line: of the `old` or the `new` text
 *   data-line          the number of a line, from 1: of output, of a step, or of the code on its side of a diff
 *   data-layout        a link to the `unified` or `split` layout
 *   data-load          a link that loads the lines of a file: `asked`, or `auto` when the reader comes near
 *
 * Pictures (pictures.ts)
 *   data-drop          set by the script: a file is dragged over it
 *
 * What a page is about
 *   data-page          on the body: the kind of page
 *   data-case          the id of the case of a session
 *   data-session       the id of the session
 *   data-api           the URL in the API of the memory file
 *   data-etag          the ETag of the memory file
 *   data-log           what the page shows of a step's log, as JSON (output-pane.ts)
 *   data-as            on a time: shown as `ago` ("5 minutes ago") or in another form of times.ts
 *
 * The plan, and comments (plan-comments.tsx, diff-comments.tsx, plan-outline.ts)
 *   data-comments      on the plan and the changed files: the URL of their comments
 *   data-place         on a comment: its place in the diff, as JSON
 *   data-lines         on a block of the plan: the lines of its source, as `12-14`
 *   data-step          on a block of the plan: the id of its step
 *   data-steps         on the plan: how many steps it has (plan-lines.ts)
 *
 * The mark of the tab (tab-mark.ts)
 *   data-mark          on main: `waits`, `running` or `failed`
 *   data-count         how many cases wait for the operator
 *   data-icon-none     on the icon of the page: its address without a mark
 *   data-icon-waits    the same with the mark `waits`
 *   data-icon-running  with the mark `running`
 *   data-icon-failed   with the mark `failed`
 *   data-icon-other    while only other cases wait
 *
 * For the style sheets only
 *   data-kind          the kind of a history entry, or of what a case waits for
 *   data-state         of a case or a session
 *   data-status        of a comment
 *   data-tone          the meaning of a notice, a badge or a heading: `good`, `info`, `active`, `warn`, `bad`, `muted`, `plain`
 *   data-level         of a heading in an outline: its level
 */

// what one page has starts after this: bundle.mjs finds the client.ts of each
document.documentElement.classList.add('js')
startForms()
startConflicts()
startNotices()
startRestoringFocus()
startDisclosures()
startKeys()
startCopying()
startVerifying()
startTimes()
startListReturn()
startWrapping()
startTabMark()
startDiff()
startLive()
// a form that needs the script was hidden while the page loaded, so its field did not get the focus
if (document.activeElement === document.body)
  document.querySelector<HTMLElement>('[autofocus]')?.focus()
