import { nextTrailNumber } from '../model/trail.ts'
import { findBodyStart, readDocument } from './document.ts'
import { withFields } from './field-edit.ts'
import { linesOf } from './lines.ts'
import { readSections } from './sections.ts'
import { CANDIDATES_HEADING, SESSION_LAYOUT } from './session-texts.ts'
import { readTrail } from './trail.ts'
import { appendSeal, appendTrail } from './trail-edit.ts'

interface Renumbering {
  from: number
  to: number
  time: string
}

/**
 * Changes the number of a session file: in its field, title, names of candidates, and with a new audit line. A sealed
 * file gets a new seal, and the new line contains the old hash. Trap: a new seal hides changes under the old one, so
 * the caller must verify the old seal first.
 */
export async function renumberedSession(text: string, move: Renumbering): Promise<string> {
  const { from, to, time } = move
  const trail = readTrail(text)
  const lines = trail?.lines.map((each) => each.line) ?? []
  const seal = trail?.lines.find((each) => each.line.event === 'session_sealed')
  let edited = seal ? text.slice(0, seal.start) : text
  edited = await withCandidates(edited, move)
  edited = withTitle(edited, move)
  const read = readDocument(edited)
  if (read.ok && read.document.fields?.has('number')) {
    edited = withFields(edited, [['number', to]])
  }
  if (!trail) return edited // a hand-made file has no trail to keep
  const { sha256 } = lines.find((line) => line.event === 'session_sealed')?.fields ?? {}
  const was = seal ? { was_sealed: sha256 } : {}
  const line = { number: nextTrailNumber(lines), time, event: 'renumbered' } as const
  edited = appendTrail(
    edited,
    lines.filter((each) => each !== seal?.line),
    [{ ...line, fields: { from, to, ...was } }],
  )
  return seal ? appendSeal(edited, time) : edited
}

/** Renames artifacts in the list of candidates, as their names contain the session number. */
async function withCandidates(text: string, { from, to }: Renumbering): Promise<string> {
  const sections = await readSections(text, SESSION_LAYOUT)
  const range = sections?.ranges.find((each) => each.name === CANDIDATES_HEADING)
  if (!range) return text
  const named = new RegExp(`^([-*+] \`)${from}-`, 'gm')
  const list = text.slice(range.from, range.to).replace(named, `$1${to}-`)
  return text.slice(0, range.from) + list + text.slice(range.to)
}

function withTitle(text: string, { from, to }: Renumbering): string {
  const title = new RegExp(`^(# Session )${from}(?=[:\\s]|$)`)
  for (const line of linesOf(text, findBodyStart(text) ?? 0)) {
    if (line.text.startsWith('## ')) break
    if (!title.test(line.text)) continue
    return text.slice(0, line.start) + line.text.replace(title, `$1${to}`) + text.slice(line.end)
  }
  return text
}
