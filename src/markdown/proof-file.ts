import { hash } from 'node:crypto'
import type { Verification } from '../model/case-contents.ts'
import { SLUG, SLUG_RULE, UUID } from '../model/name-patterns.ts'
import { type ProofImage, pictureText } from '../model/picture.ts'
import { isBreaking, type Problem } from '../model/problem.ts'
import type { Counted, Proof, ReportCounts } from '../model/proof.ts'
import { artifactIn } from '../model/proof-summary.ts'
import { isDiff } from '../model/proof-type.ts'
import { type MarkdownDocument, readDocument } from './document.ts'
import { newFrontmatter, withFields } from './field-edit.ts'
import { type FieldReader, type FieldsResult, fieldReader, readFields } from './fields.ts'
import { lineAt, linesOf } from './lines.ts'
import { closesFence, OPENING } from './outline.ts'
import {
  countsYaml,
  exitCode,
  failedTests,
  flakyTests,
  imageYaml,
  isVerified,
  proofImage,
  reportCounts,
} from './proof-evidence.ts'
import { looksLikeReport, unreadReport } from './report-shape.ts'
import { fenceFor } from './sections.ts'
import type { YamlValue } from './yaml-scalar.ts'

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

/**
 * Reads a proof file. Its content is the text of its first fence, byte for byte. For a picture it is a line that says
 * so; the caller compares the picture with `sha256`.
 */
export function readProof(text: string, origin: ProofOrigin): ProofReading {
  const file = `proof/${origin.id}.md`
  const read = readProofFile(text, file)
  if (!read.ok) return { value: null, content: '', problems: [read.problem] }
  const reader = fieldReader(read.document, file)
  const image = proofImage(reader, origin.id)
  const { content, above, below } = image ? contentOfPicture(image) : contentOf(read.document)
  const stated = reader.text('sha256')
  // the service writes a summary above the fence
  const hasSummary = stated !== null && above.length === 1
  const artifact = hasSummary ? artifactIn(above[0]!.text) : undefined
  const outside = (hasSummary ? undefined : above[0]?.start) ?? below
  if (outside !== null) {
    const line = lineAt(text, outside)
    reader.problems.push({ code: 'outside_fence', file, line, message: OUTSIDE })
  }
  reader.reportCuts('accepted')
  reader.checkAgainstPath('id', origin.id)
  reader.checkAgainstPath('case_id', origin.case_id)
  const sha256 = contentHash(content)
  const verified = isVerified(reader)
  const intact = image !== null || stated === null || stated === sha256
  if (!intact) {
    const why = verified
      ? 'the content changed after it was verified, so it counts as not verified; verify it again to accept it'
      : 'the content changed after it was attached: verify it only if the present content is right'
    reader.problem('sha256', 'proof_changed', why)
  }
  const isCounted = stated !== null && reader.has('tests')
  const tests = countsOf(reader, content)
  const uncounted = image === null && !isCounted && looksLikeReport(content)
  const isCount = uncounted || (tests?.run ?? 0) > 0
  const value: Proof = {
    id: origin.id,
    case_id: origin.case_id,
    session_id: reader.matching('session_id', UUID, 'a UUID'),
    type: reader.matching('type', SLUG, SLUG_RULE) ?? 'log',
    created_at: reader.time('created_at') ?? origin.created_at,
    sha256: stated ?? (image ? '' : sha256),
    verified,
    verified_at: reader.time('verified_at'),
    verified_by: reader.text('verified_by')?.trim() || null,
    meets: reader.texts('meets'),
    tests,
    failed_tests: failedTests(reader),
    flaky_tests: flakyTests(reader),
    exit_code: exitCode(reader),
    ...(artifact === undefined ? {} : { artifact }),
    accepted: reader.text('accepted')?.trim() || null,
    image,
    intact,
    stamped: stated !== null,
    empty: content.trim() === '',
    is_diff: image === null && isDiff(content),
    uncounted,
    unread: image === null && !isCount ? unreadReport(content) : null,
  }
  return {
    value: reader.problems.some(isBreaking) ? null : value,
    content,
    problems: reader.problems,
  }
}

/** Counts that only a person can have written, beside a text that is no report, say nothing. */
function countsOf(reader: FieldReader, content: string): ReportCounts | null {
  const stated = reportCounts(reader)
  return stated === null || stated.run === 0 || looksLikeReport(content) ? stated : null
}

const OUTSIDE =
  'text outside the first fence is not part of the proof: move it into the fence or into a memory file'

/** Looks for git conflict markers only in the head of the file, as the content is data. */
function readProofFile(text: string, file: string): FieldsResult {
  const read = readDocument(text)
  return read.ok ? read : readFields(text, file)
}

interface Content {
  content: string
  /** Lines of text above the fence. */
  above: { start: number; text: string }[]
  /** Offset of a line of text below the fence; null if there is none. */
  below: number | null
}

function contentOf({ text, bodyStart, eol }: MarkdownDocument): Content {
  let fence: string | null = null
  let start = bodyStart
  const above: Content['above'] = []
  for (const line of linesOf(text, bodyStart)) {
    fence = OPENING.exec(line.text)?.[1] ?? null
    start = line.next
    if (fence !== null) break
    if (above.length < 2 && line.text.trim() !== '') above.push(line)
  }
  // a hand-made file without a fence
  if (fence === null) return { content: text.slice(bodyStart).trim(), above: [], below: null }
  const [close, next] = closingOf(text, fence, start)
  const behind = /\S/.exec(text.slice(next))
  const below = behind && next + behind.index
  const content = text.slice(start, close)
  const end = content.endsWith(eol) ? eol.length : content.endsWith('\n') ? 1 : 0
  return { content: content.slice(0, content.length - end), above, below }
}

const LINE = /([^\r\n]*)(?:\r\n|\n|\r)?/y

/** Where the line of the closing fence begins and ends. Does not look at each line, as there may be millions. */
function closingOf(text: string, fence: string, from: number): [start: number, end: number] {
  for (let at = text.indexOf(fence, from); at >= 0; at = text.indexOf(fence, at + 1)) {
    let start = at
    while (start > from && at - start < 3 && text[start - 1] === ' ') start--
    if (start > from && text[start - 1] !== '\n' && text[start - 1] !== '\r') continue
    LINE.lastIndex = start
    const [whole, line = ''] = LINE.exec(text)!
    if (closesFence(line, fence)) return [start, start + whole.length]
  }
  return [text.length, text.length]
}

/** The text around a link to the picture is for people who read the file, and not part of the proof. */
function contentOfPicture(image: ProofImage): Content {
  return { content: pictureContent(image), above: [], below: null }
}

/** The content of a proof that is a picture. */
export function pictureContent(image: ProofImage): string {
  return `Picture (${pictureText(image)}, ${image.bytes} bytes): artifacts/${image.name}`
}

export function contentHash(content: string): string {
  return hash('sha256', content)
}

/** `summary` is a line for people. */
export function newProofText(proof: Proof, content: string, summary = ''): string {
  const { id, case_id, session_id, type, created_at, sha256, exit_code, image, verified } = proof
  const known = withValues(
    { ...countsYaml(proof), exit_code },
    (key) => key === 'tests' && looksLikeReport(content),
  )
  const picture: Fields = image ? { image: imageYaml(image) } : {}
  const fields = { id, case_id, session_id, type, created_at, sha256, ...known, ...picture }
  const head = newFrontmatter(
    Object.entries({ ...fields, verified, verified_at: proof.verified_at }),
  )
  if (image) return `${head}\n![${pictureText(image)}](../artifacts/${image.name})\n`
  const [usual, other] = [fenceFor(content), fenceFor(content, '~')]
  // use backticks unless the content has a very long run of them, which would make the fences
  // larger than the content
  const fence = usual.length > 100 && other.length < usual.length ? other : usual
  const lead = summary === '' ? '' : `${summary}\n\n`
  return `${head}\n${lead}${fence}text\n${content}\n${fence}\n`
}

type Fields = Record<string, YamlValue>

/** The fields with a value, and those that are to be written without one. */
function withValues(fields: Fields, isWanted: (key: string) => boolean): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== null || isWanted(key)),
  )
}

/** Writes the counts of the content and, if given, its verification. */
export function countedProof(
  text: string,
  counted: Counted,
  verification: Verification | null,
): string {
  const { sha256, image } = counted
  const read = readDocument(text)
  const has = (key: string) => read.ok && (read.document.fields?.has(key) ?? false)
  const content = read.ok ? contentOf(read.document).content : ''
  const isReport = image === null && looksLikeReport(content)
  const picture: Fields = image ? { image: imageYaml(image) } : {}
  const fields: Fields = { sha256, ...picture, ...countsYaml(counted) }
  if (verification) {
    const { meets } = verification
    Object.assign(fields, {
      verified: true,
      ...verification,
      meets: meets.length === 0 ? null : meets,
    })
  }
  const known = withValues(fields, (key) => has(key) || (key === 'tests' && isReport))
  return withFields(text, Object.entries(known))
}
