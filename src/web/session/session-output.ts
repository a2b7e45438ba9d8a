import { readSlice } from '../../files/read-slice.ts'
import type { HttpDeps } from '../../http/deps.ts'
import type { Session } from '../../model/session.ts'
import { isOver } from '../../model/session-state.ts'
import { stepsOf, type TrailStep } from '../../model/trail-steps.ts'
import { createAnsiReader } from '../../rendering/ansi/lines.ts'
import { type ByteRange, splitBy } from '../../rendering/live-log/byte-ranges.ts'
import { beginningOf, CUT } from '../../rendering/live-log/cut-line.ts'
import { numberLines } from '../../rendering/live-log/line-numbers.ts'
import { listArtifacts } from '../../runners/output/artifact-listing.ts'
import { artifactPath } from '../../runners/output/artifacts.ts'
import { countLinesBefore } from '../log/log-index.ts'
import type { LogLine } from '../log/log-lines.tsx'
import type { LiveOutput } from './live-output.ts'

/** A page shows the end of a step's log, since that is what people look for. */
const MAX_STEP_BYTES = 512 * 1024
const MAX_PAGE_BYTES = 640 * 1024
const MAX_STEP_LINES = 5000

/** The output of one step, as far as the page shows it. */
export interface StepOutput {
  /** Unique, also if the same step runs again. */
  key: string
  id: string
  /** Null if it printed nothing. */
  artifact: string | null
  isFinished: boolean
  /** It runs, and its output is no longer sent live: poll the log. */
  isSilent: boolean
  /** The file is not on this machine. */
  isMissing: boolean
  /** Where in the file the lines begin, and where they end. */
  from: number
  to: number
  /** The number of the line that begins, or continues, at `from`; null if it is not known. */
  line: number | null
  /** The beginning of the first line is left out. */
  isMidLine: boolean
  lines: LogLine[]
  stderr: readonly ByteRange[]
}

export interface OutputDeps {
  service: Pick<HttpDeps, 'layout'>
  liveOutput(caseId: string, artifact: string): LiveOutput
}

/** With `withText` false only the sizes of the logs are read. */
export async function sessionOutput(
  { service, liveOutput }: OutputDeps,
  session: Session,
  withText: boolean,
): Promise<StepOutput[]> {
  const { case_id, number, trail } = session
  const steps = stepsOf(number, trail)
  if (steps.length === 0) return []
  const files = await listArtifacts(service.layout, case_id, number)
  const sizes = new Map(files.map(({ artifact, size }) => [artifact, size]))
  let room = MAX_PAGE_BYTES
  const parts: StepOutput[] = []
  for (const [index, step] of [...steps.entries()].reverse()) {
    const part = emptyPart(step, index, session)
    const size = part.artifact === null ? undefined : sizes.get(part.artifact)
    part.isMissing = part.artifact !== null && size === undefined && part.isFinished
    part.to = size ?? 0
    part.from = part.to
    part.line = part.to === 0 ? 1 : null
    if (part.artifact !== null) {
      const { stderr, isSilent } = liveOutput(case_id, part.artifact)
      part.stderr = stderr
      part.isSilent = isSilent && !part.isFinished
    }
    // not limited to the size: a log that grows before it is read would lose its beginning
    const maxBytes = Math.min(room, MAX_STEP_BYTES)
    if (withText && maxBytes > 0 && part.to > 0) await read(part, service, case_id, maxBytes)
    room -= part.to - part.from
    parts.unshift(part)
  }
  return parts
}

function emptyPart(step: TrailStep, index: number, { state }: Session): StepOutput {
  return {
    key: `${index + 1}-${step.id}`,
    id: step.id,
    artifact: step.artifacts.log,
    isFinished: step.finished !== null || isOver(state),
    isMissing: false,
    isSilent: false,
    isMidLine: false,
    from: 0,
    to: 0,
    line: 1,
    lines: [],
    stderr: [],
  }
}

async function read(
  part: StepOutput,
  { layout }: OutputDeps['service'],
  caseId: string,
  maxBytes: number,
): Promise<void> {
  const path = artifactPath(layout, caseId, part.artifact!)
  const slice = (size: number) => {
    const from = Math.max(0, size - maxBytes)
    return { from, length: size - from }
  }
  const result = await readSlice(path, slice, { within: layout.caseFolder(caseId) })
  if (!result.ok) {
    part.isMissing = true
    return
  }
  const { bytes, from } = result
  const { start, isMidLine } = from === 0 ? { start: 0, isMidLine: false } : beginningOf(bytes)
  const whole = { from: from + start, to: from + bytes.length }
  const before = await countLinesBefore(layout, caseId, part.artifact!, whole.from)
  const line = before === null ? null : before + 1
  const lines = readLines(bytes.subarray(start), { whole, isMidLine, line }, part.stderr)
  Object.assign(part, whole, { isMidLine, line, lines: lines.slice(-MAX_STEP_LINES) })
}

interface ReadRange {
  whole: ByteRange
  isMidLine: boolean
  line: number | null
}

function readLines(
  bytes: Buffer,
  { whole, isMidLine, line: first }: ReadRange,
  stderr: readonly ByteRange[],
): LogLine[] {
  const reader = createAnsiReader()
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const numbers = numberLines(first)
  const lines: LogLine[] = []
  let isStderr = false
  if (isMidLine) reader.write(CUT)
  for (const { from, to, inside } of splitBy(stderr, whole)) {
    const chunk = bytes.subarray(from - whole.from, to - whole.from)
    const stream = inside ? 'stderr' : 'stdout'
    const finished = reader.write(decoders[stream].decode(chunk, { stream: true }), stream)
    isStderr ||= inside
    for (const line of finished) {
      lines.push({ line, isStderr, number: numbers.next(line) })
      isStderr = inside
    }
    if (reader.open() === null) isStderr = false
  }
  const rest = reader.open()
  if (rest) lines.push({ line: rest, isStderr, number: numbers.next(rest) })
  return lines
}
