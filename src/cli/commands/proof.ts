import { visibleText } from '../../workspace/visible-text.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { caseNamed } from '../named/case.ts'
import { type ProofJson, proofNamed, proofsOf } from '../named/proof.ts'
import { sessionNamed } from '../named/session.ts'
import { jsonText } from '../text/json-text.ts'
import { wrongUsage } from '../usage.ts'
import { contentOf, type ProofSource } from './proof-content.ts'
import { proofState } from './proof-list.ts'
import { verifySeen } from './seen-proof.ts'

export interface ProofAddOptions extends ConsoleOptions, ProofSource {
  type: string
  session?: string
  verify?: boolean
}

/** `casefile proof add`: attaches evidence, and with `verify` says that it was looked at. */
export async function addProof(
  { client, terminal, json }: Console,
  name: string,
  file: string | undefined,
  options: ProofAddOptions,
): Promise<ExitCode> {
  const content = await contentOf(file, options)
  const id = await caseNamed(client, name)
  const { type, session, verify } = options
  const session_id =
    session === undefined ? undefined : (await sessionNamed(client, id, session)).id
  const body = { type, session_id, ...content }
  let proof: ProofJson = (await client.ask('POST', `/cases/${id}/proof`, { body })).body
  if (verify) proof = await verifySeen(client, proof)
  terminal.print(
    json ? jsonText(proof) : `${proof.id}  ${visibleText(proof.type)}, ${proofState(proof)}\n`,
  )
  if (!json && !verify) {
    terminal.say(`Next: casefile proof verify ${id.slice(0, 8)} ${proof.id.slice(0, 8)}`)
  }
  return EXIT.done
}

/** `casefile proof verify`: one proof, or all that are not verified yet. */
export async function verifyProof(
  { client, terminal, json }: Console,
  name: string,
  word: string | undefined,
  { all }: ConsoleOptions & { all?: boolean },
): Promise<ExitCode> {
  if ((word === undefined) === !all) {
    throw wrongUsage('Name one proof by its id, or all of them with --all.')
  }
  const id = await caseNamed(client, name)
  const proofs = await proofsOf(client, id)
  const chosen =
    word === undefined ? proofs.filter(({ verified }) => !verified) : [proofNamed(proofs, word)]
  const verified: ProofJson[] = []
  for (const proof of chosen) verified.push(await verifySeen(client, proof))
  if (json) terminal.print(jsonText(word === undefined ? verified : verified[0]))
  else for (const proof of verified) terminal.print(`${proof.id}  ${proofState(proof)}\n`)
  if (!json && verified.length === 0) terminal.say('no proof waits to be verified')
  return EXIT.done
}
