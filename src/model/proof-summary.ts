import { diffText, resultText, testsText } from './amounts.ts'
import type { Proof } from './proof.ts'
import type { Session } from './session.ts'

const BETWEEN = ' · '
const ARTIFACT = /(?:^| · )(\d+-[^·]+) · session \d+$/

/**
 * The first line of a proof file, for people: `23 of 23 tests passed · 1-test.tap · session 1`. Empty for a text of which
 * nothing more is known.
 */
export function proofSummary(
  { tests, is_diff, artifact, type }: Pick<Proof, 'tests' | 'is_diff' | 'artifact' | 'type'>,
  content: string,
  session: Pick<Session, 'number'> | null,
): string {
  const counts = tests && tests.run > 0 ? testsText(tests) : null
  const result = resultText(counts, is_diff ? diffText(statOf(content)) : null)
  if (session === null) return result ?? ''
  return [result ?? (artifact ? '' : type), artifact ?? '', `session ${session.number}`]
    .filter((part) => part !== '')
    .join(BETWEEN)
}

/** Reads the name of the artifact from the summary. */
export function artifactIn(summary: string): string | undefined {
  return ARTIFACT.exec(summary.trim())?.[1]
}

function statOf(patch: string) {
  const count = (lines: RegExp) => patch.match(lines)?.length ?? 0
  const files = Array.from({ length: count(/^\+\+\+ /gm) })
  return {
    file: 'any',
    files,
    additions: count(/^\+(?!\+\+ )/gm),
    deletions: count(/^-(?!-- )/gm),
  }
}
