import { nearestName } from '../../http/schemas/nearest-name.ts'
import { OUTCOME } from '../../model/name-patterns.ts'
import { type Ending, usualEndings } from '../../model/outcomes.ts'
import { KNOWN_OUTCOMES } from '../../model/suggested-values.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { CommandContext } from '../context.ts'
import { usageError } from '../output/exit-codes.ts'
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
  const known = [...endings.map(({ word }) => word), ...KNOWN_OUTCOMES]
  const use = `${known.join(', ')}, or another PascalCase word.`
  if (given === undefined && (json || !terminal.canAsk)) {
    throw usageError(
      `This asks how the case ends, which needs a terminal. Without one, use --outcome with ${use}`,
    )
  }
  const answer = given ?? (await askEnding(endings, signal))
  const isKnown = KNOWN_OUTCOMES.some((each) => each === answer)
  const found = endings.find(({ word }) => !isKnown && word === answer.toLowerCase())
  if (found) return { state: found.state, outcome: found.outcome }
  if (OUTCOME.test(answer)) return { state: 'RESOLVED', outcome: answer }
  const nearest = nearestName(answer, known)
  const meant = nearest === null ? '' : ` Did you mean ${nearest}?`
  throw usageError(`There is no outcome "${visibleText(answer)}".${meant} Use ${use}`)
}

/** Enter asks again. */
async function askEnding(endings: readonly Ending[], signal: AbortSignal): Promise<string> {
  const lines = endings.map(({ label }, index) => `  ${index + 1}  ${label}\n`).join('')
  const others = KNOWN_OUTCOMES.join(', ')
  let answer: string | null = ''
  while (answer === '')
    answer = await ask(`How does it end?\n${lines}Number, or another word (${others}): `, signal)
  if (answer === null) throw usageError('No ending was chosen, so nothing was changed.')
  return endings[Number(answer) - 1]?.word ?? answer
}
