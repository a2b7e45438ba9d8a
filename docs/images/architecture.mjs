import { arrow, box, drawing, legend } from './svg.mjs'

const [W, H, GAP, LEFT] = [210, 66, 30, 20]
/** @type {(column: number, row: number, columns?: number) => import('./svg.mjs').Place} */
const at = (column, row, columns = 1) => ({
  x: LEFT + column * (W + GAP),
  y: 20 + row * (H + 34),
  w: columns * W + (columns - 1) * GAP,
  h: H,
})
/** Down from a row to the next, or up from that one. @type {(column: number, row: number, shift?: number, isUp?: boolean) => string} */
const between = (column, row, shift = 0, isUp = false) => {
  const { x, y } = at(column, row)
  const [from, to] = [y + H + 2, y + H + 31]
  const middle = x + W / 2 + shift
  return isUp ? arrow(`M${middle} ${to} V${from}`) : arrow(`M${middle} ${from} V${to}`)
}
/** From a column to the one on its right. @type {(column: number, row: number) => string} */
const across = (column, row) => {
  const { x, y } = at(column, row)
  return arrow(`M${x + W + 2} ${y + H / 2} h${GAP - 5}`)
}

export const architecture = drawing(
  {
    width: 980,
    height: 506,
    title: 'The layers of Casefile',
    description:
      'Browser, terminal, agents and other programs send requests to the HTTP API. It calls sessions, the rules decide, and runners run plans. The workspace writes the case files; edits by hand enter there. Its changes become events, which go back to pages and streams, and to webhooks. The event log is in casefile.db.',
  },
  [
    box(at(0, 0), 'you', 'Browser', ['src/web, src/web/client'], 'code'),
    box(at(1, 0), 'you', 'Terminal', ['src/cli, src/client'], 'code'),
    box(at(2, 0), 'agent', 'Agents', ['src/cli/mcp, hooks'], 'code'),
    box(at(3, 0), 'agent', 'Your programs', ['HTTP, server-sent events'], 'line'),
    box(at(0, 1, 4), 'casefile', 'HTTP API and pages', ['src/http, src/web'], 'code'),
    box(at(0, 2), 'casefile', 'Rules', ['src/model'], 'code'),
    box(at(1, 2), 'casefile', 'Sessions', ['src/sessions'], 'code'),
    box(at(2, 2), 'casefile', 'Runners', ['src/runners, src/snapshots'], 'code'),
    box(at(1, 3), 'casefile', 'Workspace', ['src/workspace'], 'code'),
    box(at(2, 3), 'casefile', 'Events', ['src/events'], 'code'),
    box(at(3, 3), 'casefile', 'Webhooks', ['src/webhooks'], 'code'),
    box(at(0, 4), 'you', 'Editors, git', ['edits by hand'], 'line'),
    box(at(1, 4), 'file', 'Case files', ['memory/cases/<id>/'], 'code'),
    box(at(2, 4), 'file', 'This machine', ['casefile.db'], 'code'),
    box(at(3, 4), 'agent', 'Receivers', ['signed requests'], 'line'),
    ...[0, 1, 2, 3].map((column) => between(column, 0)),
    between(1, 1),
    arrow(`M${at(1, 2).x - 2} ${at(1, 2).y + H / 2} h${-(GAP - 5)}`),
    across(1, 2),
    between(1, 2),
    across(1, 3),
    across(2, 3),
    between(1, 3, -20),
    between(1, 3, 20, true),
    between(2, 3),
    between(3, 3),
    across(0, 4),
    arrow(
      `M${at(2, 3).x + W - 20} ${at(2, 3).y - 2} v-15 H${at(3, 2).x + W / 2} V${at(3, 1).y + H + 3}`,
      true,
    ),
    legend(LEFT, 338, [
      ['you', 'people'],
      ['agent', 'other programs'],
      ['file', 'on disk'],
    ]),
  ],
)
