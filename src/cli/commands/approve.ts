import { Command } from 'commander'
import type { ApprovalViewJson } from '../../http/schemas/approval-view.ts'
import type { QueuePlaceJson } from '../../http/schemas/queue.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { counted } from '../../model/amounts.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { SentSignature } from '../../signing/approval-signature.ts'
import { explain, optionalCaseArgument, sessionArgument } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { follow, reread, sessionExitCode } from '../follow/follow.ts'
import { handleWaitingPlans } from '../follow/wait-for-plan.ts'
import { approvalOf, printUncommitted, printWalls } from '../output/approval-text.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { changeText } from '../output/plan-change.ts'
import { printPlan } from '../output/planned.ts'
import { sayStatus } from '../output/status-text.ts'
import type { Terminal } from '../output/terminal.ts'
import { requirePersistentService } from '../persistent-service.ts'
import { confirm } from '../question.ts'
import { resolveCase, resolveOrChooseCase } from '../resolve/case.ts'
import { resolveSession, sessionPath, sessionsOf } from '../resolve/find-session.ts'
import { sayWhatWasSent } from './revise.ts'

interface Options extends CommandOptions {
  yes?: boolean
  sha?: string
  note?: string
  detach?: boolean
  next?: boolean
  bell?: boolean
  queue?: boolean | undefined
  sign?: boolean
  key?: string
}

export function command(): Command {
  const approve = new Command('approve')
    .description('Review and approve a plan, then run it.')
    .addArgument(optionalCaseArgument())
    .addArgument(sessionArgument('the newest that waits for approval'))
    .argument(
      '[more...]',
      'More cases: approves their newest plans in one act, by what was shown. Needs a running service.',
    )
    .option('--yes', 'Approve it as it is, without asking.')
    .option('--sha <hash>', 'Approve only this plan, without asking.')
    .option('-m, --note <text>', 'A note for the agent; comments are sent too.')
    .option('--sign', 'Sign the approval with your SSH key.')
    .option('--key <file>', 'The key to sign with. Default: of git or ~/.ssh.')
    .option('--queue', 'Wait in line, without asking, if the folder is busy.')
    .option('--detach', 'Do not follow the run. Needs a running service.')
    .option('--next', 'Ask about the plans of all cases until Ctrl-C.')
    .option('--bell', 'With --next: ring the bell when it asks.')
    .action(
      (name: string | undefined, word: string | undefined, more: string[], options: Options) =>
        withService(options, (context) => run(context, name, word, more, options)),
    )
  return explain(approve, {
    examples: [
      ['casefile approve', 'Choose among the plans that wait.'],
      ['casefile approve "sign-in"', 'Read the plan, answer y, watch the run.'],
      ['casefile approve "sign-in" -m "Keep the clock"', 'Approve with a note.'],
      ['casefile approve "sign-in" --queue', 'Also if another session works in the folder.'],
      ['casefile approve c12d 7f3a 90be', 'Read three plans, answer once.'],
      ['casefile approve --next --detach', 'Answer plan after plan while the runs go on.'],
      [
        'casefile approve c12d 2 --sha <plan_sha256>',
        'Approve what casefile session plan --json showed.',
      ],
    ],
    more: 'If the plan changes meanwhile, you see the new one and are asked again. Without a running service, Ctrl-C stops the run. --next begins with the oldest plan, asks again only about one that changed, and needs a terminal.',
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.notApproved, EXIT.interrupted],
  })
}

async function run(
  context: CommandContext,
  name: string | undefined,
  word: string | undefined,
  more: readonly string[],
  options: Options,
): Promise<ExitCode> {
  const { client } = context
  if (options.next) {
    requireNextAlone(context, name, options)
    if (options.detach) requirePersistentService(context, 'run')
    return handleWaitingPlans(context, {
      bell: options.bell ?? false,
      handle: (session) => approveSession(context, session, options),
    })
  }
  if (options.bell) throw usageError('--bell needs --next.')
  if (name !== undefined) requireAnswer(context, options)
  if (options.detach) requirePersistentService(context, 'run')
  const id = await resolveOrChooseCase(context, name, {
    command: 'approve',
    needs: 'plan',
    what: 'a plan to approve',
  })
  requireAnswer(context, options)
  if (word !== undefined && !(await isSessionWord(client, id, word, more))) {
    const others = await Promise.all([word, ...more].map((each) => resolveCase(client, each)))
    const wanted = [...new Set([id, ...others])]
    const plans = wanted.map(async (each) => ({
      context,
      session: await resolveSession(client, each, undefined, { waiting: true }),
    }))
    return approveTogether(await Promise.all(plans), options)
  }
  const session = await resolveSession(client, id, word, { waiting: true })
  return approveSession(context, session, options)
}

/** Whether the word after the first case names a session of it, and not another case. */
async function isSessionWord(
  client: CommandContext['client'],
  id: string,
  word: string,
  more: readonly string[],
): Promise<boolean> {
  if (more.length > 0) return false
  if (word === 'latest' || /^\d{1,5}$/.test(word)) return true
  return (await sessionsOf(client, id)).some((each) => each.id.startsWith(word.toLowerCase()))
}

interface WaitingPlan {
  context: CommandContext
  session: SessionJson
}

/** Shows the plans, asks once, and approves each by the hash that was shown; what changed meanwhile is left out. */
export async function approveTogether(
  plans: readonly WaitingPlan[],
  options: Options,
): Promise<ExitCode> {
  const [first] = plans
  if (options.sha !== undefined || options.note !== undefined)
    throw usageError('--sha and --note are for one plan.')
  const { terminal, json, signal } = first!.context
  for (const [index, { context, session }] of plans.entries()) {
    if (!context.isPersistent())
      throw usageError('Several runs need a running service. Start one with: casefile serve')
    requireWaiting(session)
    if (json) continue
    const heading = terminal.color.bold(`${index + 1} of ${plans.length}`)
    terminal.print(`\n${heading}  ${visibleText(context.workspace.root)}\n`)
    await showPlan(context, session)
  }
  const question = `\nApprove these ${counted(plans.length, 'plan')}? [y/N] `
  if (!options.yes && !(await confirm(question, signal))) return sayNotApproved(terminal)
  const approved: SessionJson[] = []
  for (const { context, session } of plans) {
    try {
      const done = await sendApproval(context, session, { ...options, queue: true })
      approved.push(done)
      if (!json) sayDetached(context, done)
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      terminal.warn(`left out ${session.case_id.slice(0, 8)} ${session.number}: ${error.message}`)
    }
  }
  if (json) terminal.print(jsonText(approved))
  return approved.length === plans.length ? EXIT.done : EXIT.notApproved
}

function sayNotApproved(terminal: Terminal): ExitCode {
  terminal.warn('not approved; nothing was run')
  return EXIT.notApproved
}

function sayDetached({ terminal }: CommandContext, { case_id, number, queue }: SessionJson): void {
  const next = `casefile session watch ${case_id.slice(0, 8)}`
  const does = queue ? `waits in line, ${waitsForText(queue)}` : 'is running'
  terminal.print(`session ${number} ${does}. Follow it with: ${next}\n`)
}

/** Shows a plan, and what its run would start from and could reach. */
async function showPlan(context: CommandContext, session: SessionJson): Promise<ApprovalViewJson> {
  const approval = await approvalOf(context, session)
  await printPlan(context, session, approval)
  if (approval.objection === null) {
    printUncommitted(context, approval, session)
    printWalls(context, approval)
  }
  return approval
}

/** Shows the plan, asks, and follows the run. */
export async function approveSession(
  context: CommandContext,
  session: SessionJson,
  options: Options,
): Promise<ExitCode> {
  const { terminal, json } = context
  requireWaiting(session)
  const approved = await askToApprove(context, session, options)
  if (approved === null) return sayNotApproved(terminal)
  if (options.detach) {
    if (json) terminal.print(jsonText(approved))
    else sayDetached(context, approved)
    return EXIT.done
  }
  // it may have left the line again before the answer was made
  const hasWaited = approved.queue !== null || approved.state === 'plan_ready'
  const done = await follow(context, approved, {
    from: 'plan_approved',
    silent: json,
    ...(hasWaited ? { until: ['plan_ready', 'complete', 'failed', 'abandoned'] } : {}),
  })
  if (json) terminal.print(jsonText(done))
  else if (done.state === 'plan_ready') terminal.warn('nothing was run: read the plan again')
  else if (done.state !== 'abandoned') await sayStatus(context, done.case_id, done)
  return done.state === 'plan_ready' ? EXIT.notApproved : sessionExitCode(done)
}

/** Shows the plan, and asks whether it may run. The approved session; null if the answer was no. */
export async function askToApprove(
  context: CommandContext,
  first: SessionJson,
  options: Options = {},
): Promise<SessionJson | null> {
  const { client, terminal, json, signal } = context
  const { yes, queue } = options
  let waits = queue
  if (options.sha !== undefined) return sendApproval(context, first, options)
  if (!json) await showApprovable(context, first, yes)
  for (let shown = first; ; ) {
    const { draft } = shown.comments
    const sends = draft === 0 ? '' : ` and send ${counted(draft, 'comment')}`
    const what =
      waits && !queue
        ? 'Approve it to wait in line? It then starts by itself, if nothing has changed there.'
        : `Approve this plan of session ${shown.number}${sends}?`
    if (!yes && !(await confirm(`\n${what} [y/N] `, signal))) {
      const body = { plan_sha256: shown.plan_sha256 }
      if (!signal.aborted) await client.request('POST', `${sessionPath(shown)}/seen`, { body })
      return null
    }
    try {
      return await sendApproval(context, shown, { ...options, queue: waits })
    } catch (error) {
      if (yes || !(error instanceof AppError)) throw error
      if (isBusy(error) && !waits && shown.origin !== 'terminal') {
        terminal.warn(error.message)
        waits = true
        continue
      }
      if (error.code !== 'plan_changed') throw error
      signal.throwIfAborted()
      const present = await reread(context, shown)
      requireWaiting(present)
      terminal.print(`\n${changeText(terminal, shown.plan, present.plan)}\n`)
      await showApprovable(context, present)
      terminal.warn(
        'the plan changed while you read it, so it was not approved; this is the new one',
      )
      shown = present
    }
  }
}

/** Approves the text with the hash `sha`, else the one that was shown. */
async function sendApproval(
  context: CommandContext,
  session: SessionJson,
  { sha: plan_sha256 = session.plan_sha256!, note, sign, key, queue }: Options,
): Promise<SessionJson> {
  const send = (signature?: SentSignature) =>
    context.client.request('POST', `${sessionPath(session)}/approve`, {
      body: {
        plan_sha256,
        note,
        signature,
        queue,
      },
    })
  const sendSigned = () => signAndSend(context, session, { plan_sha256, key }, send)
  let answer: Awaited<ReturnType<typeof send>>
  try {
    answer = await (sign || key !== undefined ? sendSigned() : send())
  } catch (error) {
    // casefile.md asks for a signature
    if (!(error instanceof AppError) || error.code !== 'signature_required') throw error
    answer = await sendSigned()
  }
  sayWhatWasSent(context, session, note)
  return answer.body
}

/** Whether another session is why this one could not start now. */
function isBusy({ code }: AppError): boolean {
  return code === 'folder_busy' || code === 'too_many_sessions'
}

/** Signs with the operator's key, and sends. Throws if there is no key, or if it is not an allowed one. */
async function signAndSend<T>(
  { workspace: { root }, terminal }: CommandContext,
  { case_id, id }: SessionJson,
  { plan_sha256, key: path }: { plan_sha256: string | null; key: string | undefined },
  send: (signature: SentSignature) => Promise<T>,
): Promise<T> {
  const { findSigningKey, keyPath, signApproval, signerLine } = await import(
    '../../signing/signing-key.ts'
  )
  const key =
    path === undefined
      ? await findSigningKey(root)
      : { is: 'file' as const, path: keyPath(process.cwd(), path) }
  if (key === null) {
    throw new AppError(
      'bad_request',
      'There is no SSH key to sign with: git has no user.signingkey with gpg.format=ssh, and ~/.ssh has no key. Make one with ssh-keygen, or name one with --key.',
    )
  }
  const approval = {
    case_id,
    session_id: id,
    plan_sha256: plan_sha256!,
    signed_at: new Date().toISOString(),
  }
  const signature = await signApproval(approval, key, terminal.warn)
  try {
    return await send(signature)
  } catch (error) {
    const line = await signerLine(root, key)
    if (!(error instanceof AppError) || error.code !== 'bad_signature' || line === null) throw error
    const { signerAdvice } = await import('../../signing/allowed-signers.ts')
    throw new AppError('bad_signature', `${error.message}\n${await signerAdvice(root, line)}`)
  }
}

function requireAnswer({ terminal, json }: CommandContext, { yes, sha }: Options): void {
  if (yes || sha !== undefined || (terminal.canAsk && !json)) return
  throw usageError(
    'Approving asks first, which needs a terminal. Without one, use --yes for the current plan, or --sha with the plan_sha256 that you have read (casefile session plan … --json).',
  )
}

function requireNextAlone(
  { terminal, json }: CommandContext,
  name: string | undefined,
  { yes, sha, note }: Options,
): void {
  if (name !== undefined) throw usageError('--next waits for plans of all cases, so name no case.')
  if (yes || sha !== undefined) {
    throw usageError('--next asks about each plan, so it cannot be used with --yes or --sha.')
  }
  if (note !== undefined) throw usageError('--note is for one plan: name its case, without --next.')
  if (json || !terminal.canAsk) {
    throw usageError(
      '--next asks about each plan, which needs a terminal. A program can read the event attention_needed of GET /events.',
    )
  }
}

/** Throws if the approval of the plan that it shows would be rejected; with `--yes` the service says so. */
async function showApprovable(
  context: CommandContext,
  session: SessionJson,
  yes?: boolean,
): Promise<void> {
  const { objection, plan_errors } = await showPlan(context, session)
  if (yes) return
  if (plan_errors.length > 0) {
    const edit = `casefile session plan ${session.case_id.slice(0, 8)} ${session.number} --edit`
    throw new AppError('invalid_plan', `This plan cannot be approved. Edit it first: ${edit}`)
  }
  if (objection === null) return
  throw new AppError(
    'untrusted_provider',
    'This plan cannot be approved yet, for the reason above.',
  )
}

/** Throws unless a plan waits, so that an approval cannot reach a plan that was never shown. */
function requireWaiting({ number, state, plan_sha256, case_id }: SessionJson): void {
  if (state === 'plan_ready' && plan_sha256 !== null) return
  const isActive = state === 'approved' || state === 'executing'
  const next =
    state === 'planning' || state === 'created'
      ? `Wait for its plan: casefile session watch ${case_id.slice(0, 8)} ${number}`
      : isActive
        ? `Follow it: casefile session watch ${case_id.slice(0, 8)} ${number}`
        : `Start a new one: casefile start ${case_id.slice(0, 8)}`
  const code = isActive ? 'already_active' : 'wrong_state'
  throw new AppError(code, `Session ${number} is ${state}, so it has no plan to approve. ${next}`)
}

function waitsForText({ waits_for }: QueuePlaceJson): string {
  if (waits_for === null) return 'about to start'
  return `after session ${waits_for.number} of “${visibleText(waits_for.title)}”`
}
