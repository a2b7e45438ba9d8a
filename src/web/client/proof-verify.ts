import { notify } from './notices.ts'
import { refresh } from './refresh.ts'
import { type Problem, type Sent, send } from './send.ts'

const CHANGED =
  'This proof was changed while the page was open. Verify what is in it now, as you have read it?'

/**
 * The forms that verify are held to the content that the page stands for. Where a refresh brings another
 * one under the pointer, the form asks first; where the service has another one, the page is brought up to date.
 */
export function startVerifying(): void {
  const first = new Map<string, string | undefined>()
  const look = () => {
    for (const form of document.querySelectorAll<HTMLFormElement>('.verify-form')) {
      const { ifMatch } = form.dataset
      if (!first.has(form.id)) first.set(form.id, ifMatch)
      else if (first.get(form.id) !== ifMatch) form.dataset.confirm = CHANGED
    }
  }
  look()
  document.addEventListener('refreshed', look)
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLElement }
    if (!target.matches('.verify-form') || detail.ok || detail.status !== 412) return
    event.preventDefault()
    notify('It was changed meanwhile, and is not verified. Read what it says now.')
    void refresh()
  })
}

/**
 * Verifies a proof as it was attached just now: a file that somebody changes in between is not verified
 * unseen; the hash in the file would not tell. Gives what to tell where it was not, else null.
 */
export async function verifyAttached(attached: Record<string, unknown>): Promise<Problem | null> {
  const { case_id, id, content } = attached
  const address = `/cases/${case_id}/proof/${id}`
  const now = await send('GET', address)
  if (!now.ok) return notVerified(now.problem)
  if (now.body.content !== content)
    return notVerified({ code: 'stale', detail: 'it was changed meanwhile. Read it first.' })
  const sent = await send('PUT', `${address}/verify`, undefined, { 'if-match': now.etag ?? '' })
  return sent.ok ? null : notVerified(sent.problem)
}

function notVerified(problem: Problem): Problem {
  return { ...problem, detail: `It is attached, but was not verified: ${problem.detail}` }
}
