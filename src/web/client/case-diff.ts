import type { DiffLine } from '../../rendering/diff/shape.ts'
import { diffTexts } from '../../rendering/diff/texts.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { make } from './case-elements.ts'

const MAX_LINES = 400

/** What one text has and the other has not, as a table; a sentence where that cannot be shown. */
export function diffTable(before: string, after: string, label: string): HTMLElement {
  const diff = diffTexts(before, after)
  if (!diff)
    return make('p', { class: 'muted small' }, 'They are too different to be compared here.')
  if (diff.hunks.length === 0) return make('p', { class: 'muted small' }, 'Both are the same.')
  const table = make('table', { class: 'diff', 'aria-label': label })
  let room = MAX_LINES
  for (const { header, lines } of diff.hunks) {
    const shown = lines.slice(0, room)
    room -= shown.length
    if (shown.length === 0) break
    const head = make('tr', { class: 'hunk' }, make('td', { colspan: '4' }, header))
    table.append(make('tbody', {}, head, ...shown.map(rowOf)))
  }
  const box = make('div', { class: 'diff-box' }, table)
  if (room === 0) box.append(make('p', { class: 'muted small' }, 'There is more, left out here.'))
  return box
}

const KINDS = { ' ': 'same', '+': 'added', '-': 'removed' }

function rowOf({ kind, old, new: now, text, parts, noNewline }: DiffLine): HTMLElement {
  const pieces = parts?.map(({ text, changed }) =>
    changed ? make('mark', {}, visibleText(text)) : visibleText(text),
  )
  const code = make('td', { class: 'code' }, ...(pieces ?? [visibleText(text)]))
  if (noNewline) code.append(make('span', { class: 'no-newline' }, ' (no line end)'))
  return make(
    'tr',
    { class: KINDS[kind] },
    make('td', { class: 'line-number' }, String(old ?? '')),
    make('td', { class: 'line-number' }, String(now ?? '')),
    make('td', { class: 'sign' }, kind === '-' ? '−' : kind),
    code,
  )
}
