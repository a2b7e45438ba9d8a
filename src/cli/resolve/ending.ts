import { type Ending, usualEndings } from '../../model/outcomes.ts'
import { KNOWN_OUTCOMES } from '../../model/suggested-values.ts'
import type { CommandContext } from '../context.ts'
import { ask } from '../question.ts'

/**
 * Finds out how a case ends: from the outcome that is given, as a plain word or as an outcome, or by a question in a
 * terminal. Any other outcome resolves the case.
 */
export async function findEnding(
  { terminal, json, signal }: Pick<CommandContext, 'terminal' | 'json' | 'signal'>,
  caseType: string,
  given: string | undefined,
): Promise<Pick<Ending, 'state'> & { outcome?: string }> {
  const endings = usualEndings(caseType)
  if (given === undefined && (json || !terminal.canAsk)) return { state: 'RESOLVED' }
  const answer = given ?? (await askEnding(endings, signal))
  const found = endings.find(({ word }) => word === answer)
  if (found) return { state: found.state, outcome: found.outcome }
  return answer === '' && given === undefined
    ? { state: 'RESOLVED' }
    : { state: 'RESOLVED', outcome: answer }
}

async function askEnding(endings: readonly Ending[], signal: AbortSignal): Promise<string> {
  const lines = [...endings.map(({ label }) => label), 'Other…'].map(
    (label, index) => `  ${index + 1}  ${label}\n`,
  )
  const answer = await ask(`How does it end?\n${lines.join('')}Number, or Enter for none: `, signal)
  const chosen = endings[Number(answer) - 1]
  if (chosen) return chosen.word
  if (Number(answer) !== lines.length) return answer ?? ''
  return (await ask(`One word, such as ${KNOWN_OUTCOMES.join(', ')}: `, signal)) ?? ''
}
