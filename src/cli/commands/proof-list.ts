import { visibleText } from '../../workspace/visible-text.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { caseNamed } from '../named/case.ts'
import { type ProofJson, proofsOf } from '../named/proof.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import type { Terminal } from '../terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { table } from '../text/table.ts'
import { ago } from '../text/times.ts'

/** `casefile proof list` */
export async function listProof(
  { client, terminal, json }: ReadingConsole,
  name: string,
): Promise<ExitCode> {
  const id = await caseNamed(client, name)
  const proofs = await proofsOf(client, id)
  if (json) terminal.print(jsonText(proofs))
  else if (proofs.length === 0) {
    terminal.say(`no proof yet; attach some with: casefile proof add ${id.slice(0, 8)}`)
  } else terminal.print(await proofTable(proofs, terminal, terminal.width()))
  return EXIT.done
}

export function proofTable(
  proofs: readonly ProofJson[],
  { color, isTerminal }: Terminal,
  width: number,
): Promise<string> {
  const rows = proofs.map((proof) => [
    { text: proof.id.slice(0, 8), paint: color.cyan },
    { text: visibleText(proof.type) },
    { text: proofState(proof), paint: proof.verified ? color.green : color.yellow },
    { text: isTerminal ? ago(proof.created_at) : proof.created_at, paint: color.dim },
    { text: beginning(proof.content) },
  ])
  return table(rows, { width, cuts: [[4, 12]] })
}

function beginning(content: string): string {
  return visibleText(
    content
      .slice(0, 200)
      .toWellFormed()
      .trim()
      .split(/[\r\n]/, 1)[0]!,
  )
}

export function proofState({ verified }: ProofJson): string {
  return verified ? 'verified' : 'not verified'
}
