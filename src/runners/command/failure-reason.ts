import { plainText } from '../../files/plain-text.ts'
import type { CommandSpec } from '../agents/agent.ts'
import { clauseOf, DID_NOTHING, withoutStack } from '../agents/agent-text.ts'
import { MAX_LINE_MIB } from '../agents/jsonl.ts'
import type { StepProcessResult } from '../enclosure/step-process.ts'
import type { Heard } from './command-listener.ts'

export interface CommandEnd extends Heard {
  result: StepProcessResult
}

/** The dropped line may have been the one with the result. */
export const DROPPED = `it printed a line of more than ${MAX_LINE_MIB} MiB, which was discarded`

/**
 * Why a run failed, as a predicate for a sentence about the agent; null if it succeeded. Both the exit code and the
 * agent's own result must be good, because either alone can be wrong.
 */
export function failureReason(end: CommandEnd): string | null {
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
 * The same for work mode. An agent that said and did nothing has failed. For an unknown program the exit code
 * decides.
 */
export function workFailureReason(
  { stream: format }: Pick<CommandSpec, 'stream'>,
  end: CommandEnd,
): string | null {
  const complaint = failureReason(end)
  if (complaint !== null || format === 'plain') return complaint
  const { stream, hasActed, hasDropped } = end
  const said = stream.messages.join('\n\n')
  const isEmpty = said.trim() === '' && !hasActed && !hasDropped && !stream.overlong
  return isEmpty ? DID_NOTHING : null
}

function startComplaint(code: string): string {
  const hints: Record<string, string> = {
    E2BIG:
      ': the prompt is too long for a command argument. Set prompt: stdin or prompt: file in casefile.md',
    EACCES: ': the program is not executable',
    ENOENT: ': the program or the working folder is missing',
  }
  return `could not be started (${code})${hints[code] ?? ''}`
}

/** Notices about the terminal and the machine that agents print at their start. */
const NOTICE = /^(?:warning: |ripgrep is not available)/i

/** The end of its standard error, as a suffix for the message. */
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
