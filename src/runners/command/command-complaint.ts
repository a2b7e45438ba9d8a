import { plainText } from '../../files/plain-text.ts'
import { clauseOf } from '../agents/cut-text.ts'
import { MAX_LINE_MIB } from '../agents/jsonl.ts'
import { isErrorAlone } from '../agents/plan-text.ts'
import { DID_NOTHING, saidError, withoutStack } from '../agents/said-error.ts'
import type { StepProcessResult } from '../process/step-process.ts'
import type { Heard } from './command-listener.ts'
import type { CommandSpec } from './command-spec.ts'

export interface CommandEnd extends Heard {
  result: StepProcessResult
}

/** It may have been the very one that counts. */
export const DROPPED = `it printed a line of more than ${MAX_LINE_MIB} MiB, which was dropped`

/**
 * Why a run did not end well, for a sentence that begins with the agent's name; null where it did.
 * Exit codes lie, and so do last words: it takes both.
 */
export function complaintAbout(end: CommandEnd): string | null {
  const { result, stream, hasDropped, errors, retries } = end
  const { verdict } = stream
  if (retries !== null) return retries
  if (verdict.ok && (verdict.anyExit || result.exit === 0)) return null
  if (result.startError !== undefined) return startComplaint(result.startError)
  const dropped = verdict.ok || !hasDropped ? '' : `; ${DROPPED}`
  // its own words say more than its exit code and its log
  if (!verdict.ok && verdict.isSaid) return verdict.reason + dropped
  const behind = dropped + wordsBehind(errors)
  if (result.exit === 0 && !verdict.ok) return clauseOf(verdict.reason) + behind
  const how = result.exit === null ? `was ended by ${result.signal}` : `exited with ${result.exit}`
  return verdict.ok ? how + behind : `${how} and ${clauseOf(verdict.reason)}${behind}`
}

/**
 * The same of a run that was to carry out a plan. A good end of an agent that said nothing but that it failed is none,
 * and neither is one that said and did nothing; of a program of which nothing is known the exit code decides.
 */
export function complaintAtWork(
  { stream: format }: Pick<CommandSpec, 'stream'>,
  end: CommandEnd,
): string | null {
  const complaint = complaintAbout(end)
  if (complaint !== null || format === 'plain') return complaint
  const { stream, hasActed, hasDropped } = end
  const said = stream.messages.join('\n\n')
  if (isErrorAlone(said)) return `failed: ${saidError(said)}`
  const isEmpty = said.trim() === '' && !hasActed && !hasDropped && !stream.overlong
  return isEmpty ? DID_NOTHING : null
}

function startComplaint(code: string): string {
  const hints: Record<string, string> = {
    E2BIG:
      ': the prompt is too long for an argument; set prompt: stdin or prompt: file in casefile.md',
    EACCES: ': the program may not be executed',
    ENOENT: ': the program, or the folder to work in, is missing',
  }
  return `could not be started (${code})${hints[code] ?? ''}`
}

/** What agents print of the terminal and the machine at their start. */
const NOTICE = /^(?:warning: |ripgrep is not available)/i

/** The end of its standard error, which is for people. */
function wordsBehind(errors: string): string {
  const lines = withoutStack(plainText(errors)).trim().split('\n')
  const text = clauseOf(
    lines
      .filter((line) => !NOTICE.test(line))
      .slice(-5)
      .join(' '),
    'end',
  )
  return text === '' ? '' : `: ${text}`
}
