import { join } from 'node:path'
import { createDurable, makeFolder } from '../../files/durable-write.ts'
import { entriesIn } from '../../files/folder-names.ts'
import { removeTempFiles } from '../../files/temp-files.ts'
import {
  CHECKPOINT_FILE,
  type Checkpoint,
  type LogPosition,
  readCheckpoint,
} from './log-checkpoint.ts'
import { batchOf, type JsonValue } from './log-line.ts'
import { moveAside, type RepairNeeds, repairSegment } from './log-repair.ts'
import {
  addLine,
  emptySegment,
  parseSegmentName,
  type Scanned,
  type Segment,
} from './log-segment.ts'

export interface RecoveredLog {
  /** Oldest first. */
  segments: Segment[]
  marks: Map<string, JsonValue>
  /** Whether `marks` is all that was ever marked: not where there was no log, or its beginning is lost. */
  isComplete: boolean
  /** The last batch and id that may have been given, also where they can no longer be read. */
  last: LogPosition
  /** The last batch that the checkpoint on the disk covers. */
  checkpointed: number
  /** How much of the log had to be read for the marks that the checkpoint does not have. */
  replayedBytes: number
}

/**
 * Reads what a service that may have died left: cuts a torn end, sets damaged files aside with their
 * good lines kept in place, and puts the marks together again. Only for the owner of the state
 * folder, before anything is written to the log.
 */
export async function recoverLog(folder: string, needs: RepairNeeds): Promise<RecoveredLog> {
  await makeFolder(folder, 0o700)
  await removeTempFiles([folder])
  const checkpoint = await checkpointOf(folder, needs)
  const { batch = 0, upTo = 0, marks = new Map<string, JsonValue>() } = checkpoint ?? {}
  const found: RecoveredLog = {
    ...{ segments: [], marks, isComplete: checkpoint !== null },
    ...{ last: { batch, upTo }, checkpointed: batch, replayedBytes: 0 },
  }
  const names = await segmentNames(folder)
  for (const { first } of names) found.last.upTo = Math.max(found.last.upTo, first - 1)
  const files = names.filter(({ isDamaged }) => !isDamaged)
  for (const file of files) {
    const segment = emptySegment(folder, file)
    const isLast = file === files.at(-1)
    const scanned = await repairSegment(segment, found.segments.at(-1), isLast, needs)
    replay(scanned, found)
    for (const { line, header } of scanned.lines) addLine(segment, header, line.length + 1)
    if (segment.size) found.segments.push(segment)
    found.last.upTo = Math.max(found.last.upTo, scanned.lastId)
    found.last.batch = Math.max(found.last.batch, segment.lastBatch)
  }
  // Without a trace of them the next start would give the ids of lost entries again.
  const traces = [upTo, ...found.segments.map(({ lastId }) => lastId)]
  for (const { first, isDamaged } of names) if (isDamaged) traces.push(first - 1)
  if (found.last.upTo > Math.max(...traces)) found.segments.push(await trace(folder, found.last))
  if (!found.isComplete && names.length) {
    needs.log(
      'the beginning of the event log is lost, so the files count as known as they are: changes made while the service was down are not told this time',
    )
  }
  return found
}

async function checkpointOf(folder: string, needs: RepairNeeds): Promise<Checkpoint | null> {
  const checkpoint = await readCheckpoint(folder)
  if (checkpoint === 'missing') return null
  if (checkpoint !== 'damaged') return checkpoint
  const aside = await moveAside(join(folder, CHECKPOINT_FILE), needs)
  needs.log(`${CHECKPOINT_FILE} of the event log is damaged: now ${aside}`)
  return null
}

async function segmentNames(folder: string) {
  const names = (await entriesIn(folder)).map(parseSegmentName).filter((name) => name !== null)
  return names.sort((a, b) => a.first - b.first || a.batch - b.batch)
}

function replay({ lines }: Scanned, found: RecoveredLog): void {
  for (const { line, header } of lines) {
    if (header.batch <= found.checkpointed) continue
    found.replayedBytes += line.length
    if (header.baseline) {
      found.marks.clear()
      found.isComplete = true
    }
    for (const [key, value] of Object.entries(batchOf(line, header).marks)) {
      if (value === null) found.marks.delete(key)
      else found.marks.set(key, value)
    }
  }
}

/** An empty segment, whose name says which id comes next. */
async function trace(folder: string, { upTo, batch }: LogPosition): Promise<Segment> {
  const segment = emptySegment(folder, { first: upTo + 1, batch: batch + 1 })
  await createDurable(segment.path, Buffer.alloc(0), { mode: 0o600 })
  return segment
}
