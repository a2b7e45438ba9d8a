import { counted } from '../../model/amounts.ts'
import { element } from './dom.ts'
import { refresh } from './refresh.ts'
import { send } from './send.ts'

/*
 * Approves several plans at once: those whose page this browser has shown, as a whole and able to approve it. What must be
 * read or decided on the page of a session keeps its plan out.
 */

interface Seen {
  /** The address of the session in the API. */
  api: string
  page: string
  title: string
  hash: string
}

/** What `GET …/approval` says, as far as it matters here. */
interface View {
  objection: string | null
  needs_signature: boolean
  plan_unchanged: boolean
  agent_files: unknown[]
  folder: { changes: unknown[] }
}

const KEY = 'casefile-seen-plans'
const MAX_KEPT = 50

function stored(): Seen[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(all) ? all : []
  } catch {
    return [] // no storage, or damaged
  }
}

function store(all: readonly Seen[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(all.slice(-MAX_KEPT)))
  } catch {
    // no storage: each plan is approved on its page
  }
}

/** The page of a session shows this plan, and could approve it. */
export function rememberSeen(seen: Seen): void {
  if (document.visibilityState !== 'visible') return
  const others = stored().filter(({ api }) => api !== seen.api)
  store([...others, seen])
}

/** What was reported last: the API of a session, and the hash of its plan. */
let reported = ''

/** Says to the service that a person sees this plan, so that nothing else announces it. */
export async function reportSeen(api: string, plan_sha256: string): Promise<void> {
  const present = `${api} ${plan_sha256}`
  if (!document.hasFocus() || present === reported) return
  reported = present
  await send('POST', `${api}/seen`, { plan_sha256 })
}

/** Why a plan has to be approved on its page, as a clause; null if it need not. Undefined if it no longer waits. */
async function whyNot({ api, hash }: Seen): Promise<string | null | undefined> {
  const session = await send('GET', api)
  if (!session.ok) return session.status === 0 ? session.problem.detail : undefined
  if (session.body.state !== 'plan_ready') return undefined
  if (session.body.plan_sha256 !== hash) return 'its plan changed after you read it'
  const answer = await send('GET', `${api}/approval`)
  if (!answer.ok) return answer.problem.detail
  const view = answer.body as unknown as View
  if (view.objection !== null) return view.objection
  if (view.needs_signature) return 'it needs a signature'
  if (view.plan_unchanged) return 'it is the plan that you sent back'
  if (view.agent_files.length > 0) return 'its agent acts on files of the project'
  if (view.folder.changes.length > 0) return 'there are uncommitted changes where it would run'
  return null
}

/** Offers to approve the plans that this browser has shown, in the element `#seen-plans`. */
export function startSeenPlans(): void {
  let asked = 0
  let isSending = false
  async function update(): Promise<void> {
    const turn = ++asked
    const all = stored()
    const judged = await Promise.all(all.map(async (seen) => ({ seen, why: await whyNot(seen) })))
    const place = document.querySelector('#seen-plans')
    if (!place || turn !== asked || isSending) return
    const gone = judged.filter(({ why }) => why === undefined).map(({ seen }) => seen)
    if (gone.length > 0) store(stored().filter(({ api }) => gone.every((each) => each.api !== api)))
    const ready = judged.filter(({ why }) => why === null).map(({ seen }) => seen)
    const others = judged.flatMap(({ seen, why }) => (why ? [{ ...seen, why }] : []))
    place.querySelector('form')?.remove()
    if (ready.length >= 2) place.prepend(offer(ready, others))
  }

  async function approve(form: HTMLFormElement): Promise<void> {
    const button = form.querySelector('button')!
    button.disabled = true
    isSending = true
    const wanted: Seen[] = JSON.parse(form.dataset.plans!)
    const [approved, left]: [Seen[], (Seen & { why: string })[]] = [[], []]
    for (const seen of wanted) {
      const why = await whyNot(seen)
      const body = { plan_sha256: seen.hash, queue: true }
      if (why === undefined) left.push({ ...seen, why: 'it no longer waits' })
      else if (why !== null) left.push({ ...seen, why })
      else {
        const sent = await send('POST', `${seen.api}/approve`, body)
        if (sent.ok) approved.push(seen)
        else left.push({ ...seen, why: sent.problem.detail })
      }
    }
    isSending = false
    document.querySelector('#seen-plans')?.replaceChildren(result(approved, left))
    await refresh()
  }

  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id !== 'approve-seen') return
    event.preventDefault()
    void approve(form)
  })
  document.addEventListener('refreshed', () => void update())
  void update()
}

function offer(ready: readonly Seen[], others: readonly (Seen & { why: string })[]): HTMLElement {
  return element(
    <form
      id="approve-seen"
      class="notice stack"
      data-tone="warn"
      data-own=""
      data-plans={JSON.stringify(ready)}
    >
      <p>You have read these plans. In one folder, they run one after another.</p>
      <Plans plans={ready} />
      {others.length > 0 && <p>To be approved on their pages:</p>}
      <Plans plans={others} />
      <div class="actions">
        <button type="submit" class="primary">
          Approve {counted(ready.length, 'plan')} you have read
        </button>
      </div>
    </form>,
  )
}

function result(approved: readonly Seen[], left: readonly (Seen & { why: string })[]): HTMLElement {
  return element(
    <div
      class="notice stack"
      data-tone={left.length > 0 ? 'warn' : 'good'}
      data-own=""
      role="status"
    >
      <p>Approved {counted(approved.length, 'plan')}.</p>
      <Plans plans={approved} />
      {left.length > 0 && <p>Left out:</p>}
      <Plans plans={left} />
    </div>,
  )
}

function Plans({ plans }: { plans: readonly (Seen & { why?: string })[] }) {
  return (
    <ul>
      {plans.map(({ page, title, why }) => (
        <li>
          <a href={page}>{title}</a>
          {why === undefined ? '' : `: ${why.replace(/\.$/, '')}`}
        </li>
      ))}
    </ul>
  )
}
