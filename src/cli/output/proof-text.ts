import type { ProofHeadJson } from '../../http/schemas/proof.ts'
import { visibleText } from '../../model/visible-text.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'

export function proofTable(
  proofs: readonly ProofHeadJson[],
  { color, isTerminal }: Terminal,
  width: number,
): string {
  const rows = proofs.map((proof) => [
    { text: proof.id.slice(0, 8), paint: color.cyan },
    { text: visibleText(proof.type) },
    {
      text: proof.verified ? 'verified' : 'not verified',
      paint: proof.verified && proof.supports ? color.green : color.yellow,
    },
    { text: isTerminal ? ago(proof.created_at) : proof.created_at, paint: color.dim },
    { text: visibleText(oneLine(proofFacts(proof))) },
  ])
  return table(rows, { width, cuts: [[4, 12]] })
}

/** Whether the proof is verified and supports its claim. */
export function proofState(proof: ProofHeadJson): string {
  const facts = visibleText(oneLine(proofFacts(proof)))
  return `${proof.verified ? 'verified' : 'not verified'}${facts === '' ? '' : ', '}${facts}`
}

/** The result of its report, why it does not support its claim, and why it was accepted. */
function proofFacts({ tests, supports, why_not, accepted }: ProofHeadJson): string {
  if (!supports) return `does not support its claim: ${why_not}`
  const flaky = tests?.flaky === undefined ? '' : `, ${tests.flaky} flaky`
  const counts = tests ? [`${tests.passed} of ${tests.run} tests passed${flaky}`] : []
  return [...counts, ...(accepted === null ? [] : [`accepted: ${accepted}`])].join(', ')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
