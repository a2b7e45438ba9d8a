import type { HttpDeps } from '../../http/deps.ts'
import type { Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { stepsOf, type TrailStep } from '../../model/trail-steps.ts'
import type { ByteRange } from '../../rendering/live-log/byte-ranges.ts'
import { listArtifacts } from '../../runners/output/artifact-listing.ts'
import { chunkLines, openLog } from '../log/data.ts'
import type { LogLine } from '../log/log-lines.tsx'
import type { IsSilent } from './silent-logs.ts'

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
  isSilent: IsSilent
}

/** With `withText` false only the sizes of the logs are read. */
export async function sessionOutput(
  { service: { layout }, isSilent }: OutputDeps,
  session: Session,
  withText: boolean,
): Promise<StepOutput[]> {
  const { case_id, number, trail } = session
  const steps = stepsOf(number, trail)
  if (steps.length === 0) return []
  const files = await listArtifacts(layout, case_id, number)
  const sizes = new Map(files.map(({ artifact, size }) => [artifact, size]))
  let room = MAX_PAGE_BYTES
  const parts: StepOutput[] = []
  for (const [index, step] of [...steps.entries()].reverse()) {
    const part = emptyPart(step, index, session)
    const { artifact } = part
    const size = artifact === null ? undefined : sizes.get(artifact)
    part.isMissing = artifact !== null && size === undefined && part.isFinished
    part.to = size ?? 0
    part.from = part.to
    part.line = part.to === 0 ? 1 : null
    if (artifact !== null) part.isSilent = !part.isFinished && isSilent(case_id, artifact)
    if (artifact !== null && withText && room > 0 && part.to > 0)
      await readEnd(part, { layout, caseId: case_id, artifact }, Math.min(room, MAX_STEP_BYTES))
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
    isFinished: step.finished !== null || hasEnded(state),
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

/** The last chunks of the log that fit, as the page of the log has them. */
async function readEnd(
  part: StepOutput,
  log: Parameters<typeof openLog>[0],
  maxBytes: number,
): Promise<void> {
  const source = await openLog(log)
  if (!source) {
    part.isMissing = true
    return
  }
  const { size, chunks } = source.index
  const first = chunks.find(({ from }) => size - from <= maxBytes)
  part.stderr = source.stderr
  part.to = size
  part.from = size
  if (!first) return
  const { from, line, isMidLine } = first
  const lines = await chunkLines(source, { ...first, to: size })
  Object.assign(part, { from, line, isMidLine, lines: (lines ?? []).slice(-MAX_STEP_LINES) })
}
