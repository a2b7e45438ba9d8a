import { basename, resolve } from 'node:path'
import { currentBranch } from '../git/repository-folders.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { counted } from '../model/amounts.ts'
import { waitingPlans } from '../model/attention.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { providerText, type Session } from '../model/session.ts'
import { changedAt } from '../model/session-failure.ts'
import { NEEDS_YOU } from '../model/state-groups.ts'
import { lastOf } from '../model/trail.ts'
import type { TriageRow } from '../model/triage-row.ts'
import type { HttpDeps } from './deps.ts'
import { type InboxItemJson, type InboxJson, inboxKind } from './schemas/inbox.ts'

/** More are not listed; `waiting` counts them. */
const MOST_ITEMS = 500

export type OwnInboxDeps = Pick<
  HttpDeps,
  'layout' | 'lists' | 'store' | 'sessionTexts' | 'conversations' | 'refresher'
>

/** What waits in the workspace of this service, newest first. `base` is its address. */
export async function ownInbox(service: OwnInboxDeps, base: string | null): Promise<InboxJson> {
  const { layout, lists, refresher } = service
  await refresher.freshenAll()
  const filters = { needs: NEEDS_YOU }
  const rows = lists.triage(filters, null, MOST_ITEMS).map(({ row }) => row)
  const name = basename(layout.root)
  const found = await Promise.all(rows.map((row) => itemsOf(service, row)))
  const items = found.flat().map(
    (item): InboxItemJson => ({
      workspace: name,
      root: layout.root,
      ...item,
      url: base && base + itemPage(item),
    }),
  )
  const workspace = {
    name,
    root: layout.root,
    memory_root: layout.memoryRoot,
    state: 'running' as const,
    url: base,
    waiting: Math.max(lists.count(filters), items.length),
    message: null,
  }
  return { items: newestFirst(items), workspaces: [workspace] }
}

export function newestFirst(items: readonly InboxItemJson[]): InboxItemJson[] {
  const key = ({ since, root, case_id, session }: InboxItemJson) =>
    [since ?? '', root, case_id, session].join(' ')
  return items.toSorted((a, b) => (key(a) < key(b) ? 1 : -1))
}

/** The page of an item, below the address of its service. */
export function itemPage({ case_id, session }: Pick<InboxItemJson, 'case_id' | 'session'>): string {
  return `/case/${case_id}${session === null ? '' : `/session/${session}`}`
}

type OwnItem = Omit<InboxItemJson, 'workspace' | 'root' | 'url'>

/** Each plan that waits, else the one thing that the case needs. */
async function itemsOf(service: OwnInboxDeps, row: TriageRow): Promise<OwnItem[]> {
  const kind = row.needs && inboxKind(row.needs.kind)
  const contents = kind && (await service.store.read(row.id).catch(() => null)) // deleted meanwhile
  if (!contents) return []
  const { needs, since } = row
  if (kind !== 'plan') {
    const session = contents.sessions.find(({ id }) => id === needs!.session_id)
    return [{ ...(await head(service, contents, session)), kind, since, text: needs!.text }]
  }
  const plans = waitingPlans(contents).map(async (session) => ({
    ...(await head(service, contents, session)),
    ...(await planFacts(service, contents, session)),
    kind,
    since: changedAt(session),
  }))
  return Promise.all(plans)
}

async function head(service: OwnInboxDeps, contents: CaseContents, session: Session | undefined) {
  const { id, title, workdir } = contents.case
  return {
    case_id: id,
    title,
    session: session?.number ?? null,
    session_id: session?.id ?? null,
    agent: session ? providerText(session) : null,
    branch: await branchOf(service, workdir, session),
    plan_sha256: null,
  }
}

/** Of its worktree, its conversation, or the working folder as it is now. */
async function branchOf(
  { layout, conversations }: OwnInboxDeps,
  workdir: string | null,
  session: Session | undefined,
): Promise<string | null> {
  const made = session && lastOf(session.trail, 'worktree_made')?.fields.branch
  if (typeof made === 'string') return made
  const { branch = null } = (session && conversations.ofSession(session.id)) ?? {}
  return branch ?? currentBranch(resolve(layout.root, workdir ?? '.'))
}

interface PlanFacts {
  text: string
  plan_sha256: string | null
}

const known = new WeakMap<Session, PlanFacts>()

/** What a plan does, in a few words, and its hash. */
async function planFacts(
  service: OwnInboxDeps,
  contents: CaseContents,
  session: Session,
): Promise<PlanFacts> {
  const before = known.get(session)
  if (before) return before
  try {
    const { plan } = await service.sessionTexts(contents.case.id, session)
    const { steps, scope, intent } = await readPlan(plan)
    const words = [
      intent ? `“${intent.intent}”` : steps.length > 0 ? counted(steps.length, 'step') : '',
      (scope.paths ?? []).join(' '),
    ]
    const facts = {
      text: words.filter((each) => each !== '').join(' · '),
      plan_sha256: sha256(plan),
    }
    known.set(session, facts)
    return facts
  } catch {
    return { text: '', plan_sha256: null } // the file has changed, or cannot be read
  }
}
