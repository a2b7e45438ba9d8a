import type { GateJson } from '../../http/schemas/case.ts'
import type { ProofJson } from '../../http/schemas/proof.ts'
import { counted } from '../../model/amounts.ts'
import { failedTestPlace } from '../../model/failed-test.ts'
import { itemsMetBy } from '../../model/suggest-proof.ts'
import { visibleText } from '../../model/visible-text.ts'
import { proofState } from './proof-text.ts'
import { shownLine } from './shown-line.ts'

const MOST_LINES = 12

/** What a person should know before they verify a proof: what it is, what it would meet, and how it begins. */
export function proofSummary(proof: ProofJson, gate: GateJson): string {
  const lines = proof.content.replace(/\r?\n$/, '').split(/\r?\n/)
  const left = lines.length - MOST_LINES
  const place = `${proof.case_id.slice(0, 8)} ${proof.id.slice(0, 8)}`
  const met = itemsMetBy(proof.type, gate).map((item) => visibleText(item))
  return [
    `${proof.id.slice(0, 8)}  ${visibleText(proof.type)}, ${proofState(proof)}`,
    met.length === 0
      ? 'would meet nothing that is missing'
      : `${proof.supports ? 'would meet' : 'only if accepted, would meet'}: ${met.join(', ')}`,
    ...testLines(proof),
    ...lines.slice(0, MOST_LINES).map((line) => `  │ ${shownLine(line)}`),
    ...(left > 0 ? [`  │ … ${counted(left, 'more line')}: casefile prove show ${place}`] : []),
  ].join('\n')
}

/** The names of the tests that failed, with the reason, and of those that passed on a retry. */
export function testLines({
  failed_tests,
  flaky_tests,
}: Pick<ProofJson, 'failed_tests' | 'flaky_tests'>): string[] {
  const failed = failed_tests.map(({ name, message, file, line }) => {
    const place = failedTestPlace({ file, line })
    const where = place === null ? '' : ` (${place})`
    return visibleText(`  failed: ${name}${where}${message === null ? '' : `: ${message}`}`)
  })
  return [...failed, ...flaky_tests.map((name) => visibleText(`  flaky: ${name}`))]
}
