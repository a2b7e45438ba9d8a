import { isOver, isSessionState } from '../../model/session-state.ts'
import { sayProblem } from './forms.ts'
import { type Problem, send } from './send.ts'

/** The session in the way may be of another case, of which this page is told nothing. */
const LOOK_MS = 2_000

/** Says that another session runs in the same folder, with a link to it, for as long as it does. */
export function sayBusyFolder(form: HTMLElement, problem: Problem): void {
  sayProblem(form, problem)
  const said = form.querySelector<HTMLElement>('.problem-said')
  const { case_id, session_id } = (problem.running ?? {}) as Record<string, unknown>
  if (!said || typeof case_id !== 'string' || typeof session_id !== 'string') return
  const link = document.createElement('a')
  link.href = `/case/${case_id}/session/${session_id}`
  link.textContent = 'Show that session'
  said.querySelector('p')?.append(' ', link)
  const look = async () => {
    if (!said.isConnected) return
    const sent = await send('GET', `/cases/${case_id}/sessions/${session_id}`)
    const state = sent.ok ? sent.body.state : null
    const isGone = sent.status === 404 || (isSessionState(state) && isOver(state))
    if (isGone) said.remove()
    else setTimeout(() => void look(), LOOK_MS)
  }
  setTimeout(() => void look(), LOOK_MS)
}
