import { Command } from 'commander'
import type { GateJson } from '../../http/schemas/case.ts'
import { nearestName } from '../../http/schemas/nearest-name.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import { parseRequirement } from '../../markdown/requirement-line.ts'
import { KNOWN_PROOF_TYPES } from '../../model/suggested-values.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain, optionalCaseArgument, withSubcommands } from '../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../context.ts'
import { sayUnusual } from '../field-options.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { gateText } from '../output/gate-text.ts'
import { jsonText } from '../output/json.ts'
import { proofSummary, testLines } from '../output/proof-summary.ts'
import { proofState, proofTable } from '../output/proof-text.ts'
import { shownLine } from '../output/shown-line.ts'
import { sayStatus } from '../output/status-text.ts'
import type { Terminal } from '../output/terminal.ts'
import { isAgreed } from '../question.ts'
import { resolveCase, resolveOrChooseCase } from '../resolve/case.ts'
import { proofsOf, resolveProof, wholeProof } from '../resolve/find-proof.ts'
import { resolveSession } from '../resolve/find-session.ts'
import { contentOf, type ProofSource, sendProof } from '../resolve/proof-content.ts'
import { verifySeen } from '../resolve/seen-proof.ts'

/** `casefile prove …`: what a case still needs, its evidence, and its checklist. */
export function command(): Command {
  const prove = new Command('prove')
    .summary('Show what proof a case needs; attach it, read it, verify it.')
    .description('Prove a case: see what is missing, attach evidence, read and verify it.')
    .addCommand(gateCommand(), { isDefault: true })
  return withSubcommands(prove, [
    addCommand(),
    requireCommand(),
    listCommand(),
    showCommand(),
    verifyCommand(),
  ])
}

function gateCommand(): Command {
  const gate = new Command('gate')
    .summary('Show what is missing. This is what casefile prove <case> does.')
    .description('Show what is missing before a case can be resolved.')
    .addArgument(optionalCaseArgument())
    .action((name: string | undefined, options: CommandOptions) =>
      withReader(options, (context) => showGate(context, name)),
    )
  return explain(gate, {
    examples: [
      ['casefile prove "sign-in" && casefile resolve "sign-in"', 'Resolve it if it is proved.'],
    ],
    exits: [EXIT.unknown, EXIT.gateShut],
  })
}

async function showGate(context: ReadContext, name: string | undefined): Promise<ExitCode> {
  const { client, terminal, json } = context
  const choice = { command: 'prove', needs: 'proof', what: 'proof to read' } as const
  const id = await resolveOrChooseCase(context, name, choice).catch((error) => {
    const meant = nearestName(name ?? '', ['add', 'require', 'list', 'show', 'verify'])
    if (meant !== null) terminal.warn(`did you mean casefile prove ${meant}?`)
    throw error
  })
  const { body } = await client.request('GET', `/cases/${id}/gate`)
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(gateText(body, terminal))
    terminal.say('')
    await sayStatus({ client, terminal }, id)
  }
  return body.open ? EXIT.done : EXIT.gateShut
}

interface RequireOptions extends CommandOptions {
  type?: string
  optional?: boolean
}

function requireCommand(): Command {
  const command = new Command('require')
    .description('Add what must be proved to the checklist of a case.')
    .addArgument(caseArgument())
    .argument('<text>', 'What the proof should show, on one line.')
    .option(
      '--type <type>',
      'Type of proof that satisfies it. Default: as in "Looks right (screenshot)", else test-log.',
    )
    .option('--optional', 'The case can be resolved without it.')
    .action((name: string, text: string, options: RequireOptions) =>
      withService(options, (context) => requireProof(context, name, text, options)),
    )
  return explain(command, {
    examples: [
      ['casefile prove require "sign-in" "All tests pass"', 'A passing test log.'],
      ['casefile prove require c12d "Looks right" --type screenshot', 'A picture.'],
    ],
    more: 'To change or remove an item, edit the checklist in case.md: casefile open <case> --edit',
    exits: [EXIT.unknown],
  })
}

async function requireProof(
  context: CommandContext,
  name: string,
  text: string,
  { type, optional = false }: RequireOptions,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  const read = type === undefined ? parseRequirement(text, () => 'test-log') : null
  const item = read ?? { description: text, type, required: true }
  const body = { ...item, required: item.required && !optional }
  const answer = await client.request('POST', `/cases/${id}/proof/checklist`, { body })
  await sayUnusual(context, { 'proof type': body.type })
  if (json) terminal.print(jsonText(answer.body))
  else terminal.print(gateText((await client.request('GET', `/cases/${id}/gate`)).body, terminal))
  return EXIT.done
}

interface AddOptions extends CommandOptions, ProofSource {
  type?: string
  session?: string
  verify?: boolean
}

function addCommand(): Command {
  const add = new Command('add')
    .description('Attach a proof.')
    .addArgument(caseArgument())
    .argument('[file]', 'A text file or a picture; - reads standard input.')
    .option(
      '--type <type>',
      `Type of proof: ${KNOWN_PROOF_TYPES.join(', ')}, or another word. Default: what it is.`,
    )
    .option('--artifact <name>', 'Attach output of a session instead of a file.')
    .option('--text <text>', 'The proof itself, instead of a file.')
    .option(
      '--session <session>',
      'The session it comes from: its number, id, or latest. Default: the newest complete one without proof.',
    )
    .option('--verify', 'Verify it too, if it supports its claim.')
    .action((name: string, file: string | undefined, options: AddOptions) =>
      withService(options, (context) => addProof(context, name, file, options)),
    )
  return explain(add, {
    examples: [
      ['casefile prove add "sign-in" --artifact 1-test.tap', 'Attach a report of session 1.'],
      ['npm test | casefile prove add c12d -', 'Attach the output of a command.'],
      ['casefile prove add c12d after.png', 'Attach a picture: PNG, JPEG, WebP or GIF.'],
    ],
    exits: [EXIT.unknown],
  })
}

function showCommand(): Command {
  const show = new Command('show')
    .description('Print a proof with its content.')
    .addArgument(caseArgument())
    .argument('[proof]', 'Its id, or the start of it. Default: all, newest last.')
    .action((name: string, word: string | undefined, options: CommandOptions) =>
      withReader(options, (context) => showProofs(context, name, word)),
    )
  return explain(show, {
    examples: [
      ['casefile prove show "sign-in"', 'Read all before you verify them.'],
      ['casefile prove show "sign-in" 9f3c', 'Read one.'],
    ],
    exits: [EXIT.unknown],
  })
}

interface VerifyOptions extends CommandOptions {
  all?: boolean
  yes?: boolean
  accept?: string
}

function verifyCommand(): Command {
  const verify = new Command('verify')
    .description('Mark a proof as verified, after showing how it begins.')
    .addArgument(caseArgument())
    .argument('[proof]', 'Its id, or the start of it. Default: the only one that is not verified.')
    .option('--all', 'All that count and are not verified yet.')
    .option('--yes', 'Verify without asking; read it before with prove show.')
    .option('--accept <reason>', 'Why it counts in spite of what speaks against it.')
    .action((name: string, word: string | undefined, options: VerifyOptions) =>
      withService(options, (context) => verifyProof(context, name, word, options)),
    )
  return explain(verify, {
    examples: [
      ['casefile prove verify "sign-in"', 'Read its summary, answer y.'],
      [
        'casefile prove verify "sign-in" 9f3c --accept "Both are known"',
        'Accept one with failures.',
      ],
    ],
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

function listCommand(): Command {
  const list = new Command('list')
    .description('List the proofs of a case.')
    .addArgument(caseArgument())
    .action((name: string, options: CommandOptions) =>
      withReader(options, (context) => listProof(context, name)),
    )
  return explain(list, {
    examples: [['casefile prove list "sign-in"', 'Newest first.']],
    exits: [EXIT.unknown],
  })
}

async function addProof(
  { client, terminal, json }: CommandContext,
  name: string,
  file: string | undefined,
  options: AddOptions,
): Promise<ExitCode> {
  const content = await contentOf(file, options)
  const id = await resolveCase(client, name)
  const { type, session, verify } = options
  const session_id =
    session === undefined ? undefined : (await resolveSession(client, id, session)).id
  let proof = await sendProof(client, id, content, { type, session_id })
  const isVerifiable = verify && proof.supports
  if (isVerifiable) proof = await verifySeen(client, proof)
  if (json) terminal.print(jsonText(proof))
  else {
    const path = `/cases/${id}/sessions/${proof.session_id}`
    const from = proof.session_id && (await client.request('GET', path)).body.number
    const type = `${visibleText(proof.type)} of ${from === null ? 'no session' : `session ${from}`}`
    terminal.print(`${proof.id}  ${type}, ${proofState(proof)}\n`)
  }
  if (!json && !proof.supports) {
    const place = `${id.slice(0, 8)} ${proof.id.slice(0, 8)}`
    terminal.say(`To accept it all the same: casefile prove verify ${place} --accept "<reason>"`)
  } else if (!json) await sayStatus({ client, terminal }, id)
  if (!verify || isVerifiable) return EXIT.done
  terminal.warn(
    `attached, but not verified: it does not support its claim, because ${visibleText(proof.why_not ?? '')}. Attach a passing report, or accept this one with a reason.`,
  )
  return EXIT.failed
}

/** One proof, or all of the case. They are loaded one by one, because their contents may be large. */
async function showProofs(
  { client, terminal, json }: ReadContext,
  name: string,
  word: string | undefined,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const all = await proofsOf(client, id)
  if (word !== undefined) {
    const proof = await wholeProof(client, resolveProof(all, word))
    if (json) terminal.print(jsonText(proof))
    else printProof(terminal, proof)
  } else if (json) {
    const whole: ProofJson[] = []
    for (const head of all) whole.push(await wholeProof(client, head))
    terminal.print(jsonText(whole.reverse()))
  } else if (all.length === 0) await sayNoProof({ client, terminal }, id)
  else {
    for (const [index, head] of [...all].reverse().entries()) {
      if (index > 0) terminal.print('\n')
      printProof(terminal, await wholeProof(client, head))
    }
  }
  return EXIT.done
}

function printProof(terminal: Terminal, proof: ProofJson): void {
  terminal.say(`${proof.id}  ${visibleText(proof.type)}, ${proofState(proof)}`)
  for (const line of testLines(proof)) terminal.say(line)
  if (proof.image) terminal.say(`SHA-256 ${proof.sha256}`)
  terminal.say('')
  const lines = proof.content.replace(/\r?\n$/, '').split(/\r?\n/)
  terminal.print(lines.map((line) => `${shownLine(line)}\n`).join(''))
}

async function sayNoProof(
  console: Pick<ReadContext, 'client' | 'terminal'>,
  id: string,
): Promise<void> {
  console.terminal.say('no proof yet')
  await sayStatus(console, id)
}

async function verifyProof(
  context: CommandContext,
  name: string,
  word: string | undefined,
  { all, yes, accept }: VerifyOptions,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  if (all && word !== undefined) throw usageError('Name one proof by its id, or all with --all.')
  if (all && accept !== undefined) {
    throw usageError('--accept takes one proof: name it by its id, without --all.')
  }
  const id = await resolveCase(client, name)
  const proofs = await proofsOf(client, id)
  const waiting = proofs.filter(({ verified }) => !verified)
  const left = all ? waiting.filter(({ supports }) => !supports) : []
  const chosen = all
    ? waiting.filter(({ supports }) => supports)
    : word === undefined
      ? onlyOne(waiting)
      : [resolveProof(proofs, word)]
  const verified: ProofJson[] = []
  for (const proof of chosen) {
    const seen = yes ? proof : await askAbout(context, proof, accept)
    if (seen === null) {
      terminal.warn('not verified')
      return EXIT.notApproved
    }
    verified.push(await verifySeen(client, seen, accept))
  }
  if (json) terminal.print(jsonText(all ? verified : (verified[0] ?? null)))
  else for (const proof of verified) terminal.print(`${proof.id}  ${proofState(proof)}\n`)
  for (const proof of left) {
    terminal.warn(`${proof.id.slice(0, 8)} is not verified: ${visibleText(proof.why_not ?? '')}`)
  }
  if (!json && verified.length + left.length === 0) terminal.say('no proof to verify')
  if (!json && verified.length > 0) await sayStatus({ client, terminal }, id)
  return left.length > 0 ? EXIT.failed : EXIT.done
}

function onlyOne(waiting: readonly ProofHeadJson[]): readonly ProofHeadJson[] {
  if (waiting.length < 2) return waiting
  const ids = waiting.map(({ id, type }) => `${id.slice(0, 8)} (${type})`).join(', ')
  throw usageError(
    `The case has several proofs that are not verified: ${ids}. Name one of them, or verify all that count with --all.`,
  )
}

/** Shows what would be verified. Returns it with the content that was shown; null if the answer was no. */
async function askAbout(
  context: CommandContext,
  head: ProofHeadJson,
  accept: string | undefined,
): Promise<ProofJson | null> {
  const proof = await wholeProof(context.client, head)
  const gate: GateJson = (await context.client.request('GET', `/cases/${head.case_id}/gate`)).body
  const asked = proof.supports
    ? 'Verify it?'
    : accept === undefined
      ? 'It will not count without --accept "<reason>". Verify it all the same?'
      : 'Accept it with this reason?'
  const question = `${proofSummary(proof, gate)}\n${asked} [y/N] `
  return (await isAgreed(context, { yes: false, question })) ? proof : null
}

async function listProof({ client, terminal, json }: ReadContext, name: string): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const proofs = await proofsOf(client, id)
  if (json) terminal.print(jsonText(proofs))
  else if (proofs.length === 0) await sayNoProof({ client, terminal }, id)
  else terminal.print(proofTable(proofs, terminal, terminal.width()))
  return EXIT.done
}
