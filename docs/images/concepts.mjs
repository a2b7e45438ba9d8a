import { arrow, box, drawing, legend, text } from './svg.mjs'

const [W, H, GAP, LEFT] = [164, 78, 30, 20]
/** @type {(column: number, y: number) => import('./svg.mjs').Place} */
const at = (column, y) => ({ x: LEFT + column * (W + GAP), y, w: W, h: H })
const [TOP, BELOW] = [66, 228]
/** The middle of the gap to the right of a column starts here. @type {(column: number) => number} */
const right = (column) => LEFT + column * (W + GAP) + W
/** @type {(column: number) => number} */
const middle = (column) => LEFT + column * (W + GAP) + W / 2

export const concepts = drawing(
  {
    width: 980,
    height: 380,
    title: 'From a case to RESOLVED',
    description:
      'You write a case. You start a session. An agent or a runbook writes a plan. You approve it, or request changes. The plan runs. Casefile collects the evidence. You attach a part of it as proof and verify it. The gate opens. You set the case to RESOLVED. If a run fails, you plan again in a new session.',
  },
  [
    box(at(0, TOP), 'you', 'Case', ['what is wrong, and', 'the checklist of proof']),
    box(at(1, TOP), 'you', 'Session', ['one attempt', 'at the case']),
    box(at(2, TOP), 'agent', 'Plan', ['what will be done,', 'step by step']),
    box(at(3, TOP), 'you', 'Approval', ['of exactly this text,', 'by its hash']),
    box(at(4, TOP), 'agent', 'Run', ['the steps, or the', 'agent’s work']),
    box(at(4, BELOW), 'casefile', 'Evidence', ['output, exit codes,', 'diff, test results']),
    box(at(3, BELOW), 'you', 'Proof', ['evidence that you', 'attached and verified']),
    box(at(2, BELOW), 'casefile', 'Gate', ['opens when no proof', 'is missing']),
    box(at(1, BELOW), 'you', 'RESOLVED', ['with the cause', 'that was found']),
    ...[0, 1, 2, 3].map((column) => arrow(`M${right(column) + 2} ${TOP + H / 2} h${GAP - 5}`)),
    arrow(`M${middle(4)} ${TOP + H + 2} V${BELOW - 3}`),
    ...[4, 3, 2].map((column) =>
      arrow(`M${right(column - 1) + GAP - 2} ${BELOW + H / 2} h${-(GAP - 5)}`),
    ),
    arrow(`M${middle(3)} ${TOP - 2} v-18 H${middle(2)} v15`, true),
    text((middle(2) + middle(3)) / 2, TOP - 28, 'you request changes', 'line', 'middle'),
    arrow(`M${middle(4) - 30} ${TOP + H + 2} v32 H${middle(1)} V${TOP + H + 3}`, true),
    text(middle(2) + 96, TOP + H + 54, 'it failed: plan again, in a new session', 'line', 'middle'),
    legend(LEFT, BELOW + 4, [
      ['you', 'you decide'],
      ['agent', 'an agent, or steps'],
      ['casefile', 'Casefile'],
    ]),
    text(LEFT, 354, 'Everything is markdown:', 'line'),
    text(
      LEFT + 194,
      354,
      'memory/cases/<id>/  case.md  history.md  sessions/1.md  proof/<id>.md',
      'code',
    ),
  ],
)
