import { failedTestPlace } from '../../model/failed-test.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { type ProofJson, resolveProof, proofsOf, wholeProof } from '../resolve/proof.ts'
import { resolveSession } from '../resolve/session.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { wrongUsage } from '../usage.ts'
import { contentOf, type ProofSource } from './proof-content.ts'
import { proofState } from './proof-list.ts'
import { verifySeen } from './seen-proof.ts'

export interface ProofAddOptions extends ConsoleOptions, ProofSource {
  type: string
  session?: string
  verify?: boolean
}

/** `casefile proof add`: attaches evidence; with `verify` also verifies it, if it supports its claim. */
export async function addProof(
  { client, terminal, json }: Console,
  name: string,
  file: string | undefined,
  options: ProofAddOptions,
): Promise<ExitCode> {
  const content = await contentOf(file, options)
  const id = await resolveCase(client, name)
  const { type, session, verify } = options
  const session_id =
    session === undefined ? undefined : (await resolveSession(client, id, session)).id
  const body = { type, session_id, ...content }
  let proof: ProofJson = (await client.request('POST', `/cases/${id}/proof`, { body })).body
  const isVerifiable = verify && proof.supports
  if (isVerifiable) proof = await verifySeen(client, proof)
  terminal.print(
    json ? jsonText(proof) : `${proof.id}  ${visibleText(proof.type)}, ${proofState(proof)}\n`,
  )
  const [name8, proof8] = [id.slice(0, 8), proof.id.slice(0, 8)]
  if (!json && !isVerifiable) {
    terminal.say(`Read it:    casefile proof show ${name8} ${proof8}`)
    terminal.say(
      proof.supports
        ? `Then:       casefile proof verify ${name8} ${proof8}`
        : `To accept:  casefile proof verify ${name8} ${proof8} --accept "<reason>"`,
    )
  }
  if (!verify || isVerifiable) return EXIT.done
  terminal.warn(
    `attached, but not verified: it supports nothing, as ${visibleText(proof.why_not ?? '')}. Attach a passing report, or accept this one with a reason.`,
  )
  return EXIT.refused
}

/** `casefile proof show`: what is known of a proof, then its content. */
export async function showProof(
  { client, terminal, json }: ReadingConsole,
  name: string,
  word: string,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const proof = await wholeProof(client, resolveProof(await proofsOf(client, id), word))
  if (json) {
    terminal.print(jsonText(proof))
    return EXIT.done
  }
  terminal.say(`${proof.id}  ${visibleText(proof.type)}, ${proofState(proof)}`)
  for (const { name, message, file, line } of proof.failed_tests) {
    const place = failedTestPlace({ file, line })
    const where = place === null ? '' : ` (${place})`
    terminal.say(visibleText(`  failed: ${name}${where}${message === null ? '' : `: ${message}`}`))
  }
  terminal.say('')
  const lines = proof.content.replace(/\r?\n$/, '').split(/\r?\n/)
  terminal.print(lines.map((line) => `${shownLine(line)}\n`).join(''))
  return EXIT.done
}

export interface ProofVerifyOptions extends ConsoleOptions {
  all?: boolean
  accept?: string
}

/** `casefile proof verify`: one proof, or all that are not verified yet and support their claim. */
export async function verifyProof(
  { client, terminal, json }: Console,
  name: string,
  word: string | undefined,
  { all, accept }: ProofVerifyOptions,
): Promise<ExitCode> {
  if ((word === undefined) === !all) {
    throw wrongUsage('Name one proof by its id, or all of them with --all.')
  }
  if (all && accept !== undefined) {
    throw wrongUsage('A reason is for one proof: name it by its id, without --all.')
  }
  const id = await resolveCase(client, name)
  const proofs = await proofsOf(client, id)
  const waiting = proofs.filter(({ verified }) => !verified)
  const left = word === undefined ? waiting.filter(({ supports }) => !supports) : []
  const chosen =
    word === undefined ? waiting.filter(({ supports }) => supports) : [resolveProof(proofs, word)]
  const verified: ProofJson[] = []
  for (const proof of chosen) verified.push(await verifySeen(client, proof, accept))
  if (json) terminal.print(jsonText(word === undefined ? verified : verified[0]))
  else for (const proof of verified) terminal.print(`${proof.id}  ${proofState(proof)}\n`)
  for (const proof of left) {
    terminal.warn(`${proof.id.slice(0, 8)} is not verified: ${visibleText(proof.why_not ?? '')}`)
  }
  if (!json && verified.length + left.length === 0) terminal.say('no proof waits to be verified')
  return left.length > 0 ? EXIT.refused : EXIT.done
}
