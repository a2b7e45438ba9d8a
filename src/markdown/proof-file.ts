import { hash } from 'node:crypto'
import { isBreaking, type Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import { SLUG, SLUG_RULE, UUID } from '../model/words.ts'
import { newFrontmatter, withFields } from './field-edit.ts'
import { fieldReader, recordHead } from './fields.ts'
import { type Head, readHead } from './head.ts'
import { linesOf } from './lines.ts'
import { closesFence, OPENING } from './outline.ts'
import { fenceFor } from './section.ts'

export const MAX_PROOF_BYTES = 11 * 1024 * 1024

interface ProofOrigin {
  id: string
  case_id: string
  created_at: string
}

interface ProofReading {
  value: Proof | null
  content: string
  problems: Problem[]
}

/** Reads a proof file. Its content is the inside of its first fence, byte for byte. */
export function readProof(text: string, origin: ProofOrigin): ProofReading {
  const file = `proof/${origin.id}.md`
  const read = proofHead(text, file)
  if (!read.ok) return { value: null, content: '', problems: [read.problem] }
  const reader = fieldReader(read.head, file)
  const content = contentOf(read.head)
  reader.placed('id', origin.id)
  reader.placed('case_id', origin.case_id)
  const sha256 = reader.text('sha256')
  const verified = reader.raw('verified') === true
  const intact = sha256 !== null && sha256 === contentHash(content)
  if (!intact && (verified || sha256 !== null)) {
    const why = verified
      ? 'the content is not what was verified: it counts as not verified; verify it again to accept it'
      : 'the content is not what was attached: verify it only if what is there now is right, as that is what counts then'
    reader.problem('sha256', 'proof_changed', why)
  }
  const value: Proof = {
    id: origin.id,
    case_id: origin.case_id,
    session_id: reader.shaped('session_id', UUID, 'a UUID'),
    type: reader.shaped('type', SLUG, SLUG_RULE) ?? 'log',
    created_at: reader.time('created_at') ?? origin.created_at,
    sha256,
    verified,
    verified_at: reader.time('verified_at'),
    intact,
  }
  return {
    value: reader.problems.some(isBreaking) ? null : value,
    content,
    problems: reader.problems,
  }
}

/** Content is data: git's markers are looked for in the head of the file only. */
function proofHead(text: string, file: string): ReturnType<typeof recordHead> {
  const read = readHead(text)
  return read.ok ? read : recordHead(text, file)
}

function contentOf({ text, bodyStart, eol }: Head): string {
  let fence: string | null = null
  let start = bodyStart
  let end = text.length
  for (const line of linesOf(text, bodyStart)) {
    if (fence === null) {
      fence = OPENING.exec(line.text)?.[1] ?? null
      start = line.next
    } else if (closesFence(line.text, fence)) {
      end = line.start
      break
    }
  }
  if (fence === null) return text.slice(bodyStart).trim() // written by hand, without a fence
  const content = text.slice(start, end)
  if (content.endsWith(eol)) return content.slice(0, -eol.length)
  return content.endsWith('\n') ? content.slice(0, -1) : content
}

export function contentHash(content: string): string {
  return hash('sha256', content)
}

export function newProofText(proof: Proof, content: string): string {
  const { id, case_id, session_id, type, created_at, sha256, verified, verified_at } = proof
  const fields = { id, case_id, session_id, type, created_at, sha256, verified, verified_at }
  const [usual, other] = [fenceFor(content), fenceFor(content, '~')]
  // a fence of backticks, unless the content has so long a run of them that two such would be larger than it
  const fence = usual.length > 100 && other.length < usual.length ? other : usual
  return `${newFrontmatter(Object.entries(fields))}\n${fence}text\n${content}\n${fence}\n`
}

/** The file with its verification set; the hash is that of the content as it stands now. */
export function verifiedProof(text: string, verifiedAt: string, sha256: string): string {
  return withFields(text, [
    ['sha256', sha256],
    ['verified', true],
    ['verified_at', verifiedAt],
  ])
}
