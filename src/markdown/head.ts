import { type Envelope, type EnvelopeResult, readEnvelope } from './envelope.ts'
import { type LineEnding, lineEnding } from './lines.ts'
import { type Field, plainFront } from './plain-front.ts'
import { isNode } from './yaml-package.ts'
import { plainNode, scalarText } from './yaml-value.ts'

/** The frontmatter of a record file, and where its body begins. Offsets refer to `text`. */
export interface Head {
  text: string
  eol: LineEnding
  /** Null for a file without frontmatter. */
  fields: ReadonlyMap<string, Field> | null
  bodyStart: number
}

export type HeadResult = { ok: true; head: Head } | Extract<EnvelopeResult, { ok: false }>

/** Same result as `parsedHead`, but without the parser if the frontmatter is plain. */
export function readHead(text: string): HeadResult {
  const front = plainFront(text)
  return front ? { ok: true, head: { text, eol: lineEnding(text), ...front } } : parsedHead(text)
}

export function parsedHead(text: string): HeadResult {
  const read = readEnvelope(text)
  return read.ok ? { ok: true, head: headOf(read.envelope) } : read
}

function headOf({ text, eol, front, bodyStart }: Envelope): Head {
  if (!front) return { text, eol, fields: null, bodyStart }
  const fields = new Map<string, Field>()
  for (const [key, { key: node, value }] of front.map.pairs) {
    const at = front.start + (isNode(node) ? node.range![0] : 0)
    fields.set(key, { value: plainNode(value), text: scalarText(value), at })
  }
  return { text, eol, fields, bodyStart }
}
