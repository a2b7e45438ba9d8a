import { visibleText } from '../../model/visible-text.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { type ProofHead, proofsOf } from '../resolve/proof.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import type { Terminal } from '../output/terminal.ts'
import { jsonText } from '../output/json.ts'
import { table } from '../output/table.ts'
import { ago } from '../output/times.ts'

/** `casefile proof list` */
export async function listProof(
  { client, terminal, json }: ReadingConsole,
  name: string,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const proofs = await proofsOf(client, id)
  if (json) terminal.print(jsonText(proofs))
  else if (proofs.length === 0) {
    terminal.say(`no proof yet; attach some with: casefile proof add ${id.slice(0, 8)}`)
  } else terminal.print(await proofTable(proofs, terminal, terminal.width()))
  return EXIT.done
}

export function proofTable(
  proofs: readonly ProofHead[],
  { color, isTerminal }: Terminal,
  width: number,
): Promise<string> {
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

/** Whether it is verified, and what it is worth. */
export function proofState(proof: ProofHead): string {
  const facts = visibleText(oneLine(proofFacts(proof)))
  return `${proof.verified ? 'verified' : 'not verified'}${facts === '' ? '' : ', '}${facts}`
}

/** What its report says, why it supports nothing, and why it was accepted. */
function proofFacts({ tests, supports, why_not, accepted }: ProofHead): string {
  if (!supports) return `supports nothing: ${why_not}`
  const counts = tests ? [`${tests.passed} of ${tests.run} tests passed`] : []
  return [...counts, ...(accepted === null ? [] : [`accepted: ${accepted}`])].join(', ')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
