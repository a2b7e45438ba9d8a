/** The end of what a step printed. Its event has it; the audit trail names the step's log by its hash. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { plainText } from '../files/plain-text.ts'
import { isOpenWithin } from '../files/safe-read.ts'
import type { Session } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'
import { stepsOf } from '../model/trail-steps.ts'
import type { Layout } from './layout.ts'

const TAIL_CHARACTERS = 2000
const READ_BYTES = 4 * TAIL_CHARACTERS

/** Returns `step_finished` with the end of the step's log, if this machine has that, and any other event as it is. */
export type WithTail = (session: Session, line: TrailLine) => TrailLine

/** `clean` removes secrets. The lines of older audit trails have the text themselves. */
export function createStepTails(layout: Layout, clean: (text: string) => string): WithTail {
  return (session, line) => {
    if (line.event !== 'step_finished' || line.fields.tail !== undefined) return line
    const step = stepsOf(session.number, session.trail).find(({ finished }) => finished === line)
    const log = step?.artifacts.log ?? null
    const text = log === null ? '' : readEnd(layout, session.case_id, log)
    return { ...line, fields: { ...line.fields, tail: lastLines(clean(plainText(text))) } }
  }
}

function readEnd(layout: Layout, caseId: string, name: string): string {
  const path = `${layout.artifacts(caseId)}/${name}`
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      const stats = fstatSync(file)
      if (!stats.isFile() || !isOpenWithin(file, path, layout.caseFolder(caseId))) return ''
      const bytes = Buffer.alloc(Math.min(READ_BYTES, stats.size))
      return bytes.toString(
        'utf8',
        0,
        readSync(file, bytes, 0, bytes.length, stats.size - bytes.length),
      )
    } finally {
      closeSync(file)
    }
  } catch {
    return '' // artifacts stay on the machine that made them
  }
}

function lastLines(text: string): string {
  if (text.length <= TAIL_CHARACTERS) return text
  const cut = text.slice(-TAIL_CHARACTERS)
  const line = cut.indexOf('\n')
  return (line >= 0 && line < TAIL_CHARACTERS / 2 ? cut.slice(line + 1) : cut).toWellFormed()
}
