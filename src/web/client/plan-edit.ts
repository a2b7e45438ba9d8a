import { sayProblem } from './forms.ts'
import { beforeRefresh, refresh } from './refresh.ts'
import type { Sent } from './send.ts'

/**
 * Editing a plan that may change meanwhile: what was typed stays, the newer text is shown above it, and
 * only a second, deliberate act puts the one in place of the other.
 */
export function startPlanEdit(): void {
  /** What a save is held to on the newest page; undefined where nothing can be saved. */
  let newest: string | undefined

  beforeRefresh((next) => {
    const there = next.querySelector<HTMLElement>('#edit-form')
    const here = document.querySelector<HTMLElement>('#edit-form[data-dirty]')
    newest = there?.dataset.ifMatch
    if (!here) return
    const plan = there?.dataset.plan ?? ''
    if (plan === here.dataset.plan) {
      // the trail alone has grown
      if (newest !== undefined) here.dataset.ifMatch = newest
    } else if (plan !== here.dataset.seen) {
      here.dataset.seen = plan
      sayProblem(here, { code: 'changed', detail: there ? CHANGED : GONE })
    }
  })

  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLElement }
    if (target.id !== 'edit-form' || detail.ok || detail.status !== 412) return
    event.preventDefault()
    void offerReplacing(target as HTMLFormElement)
  })

  async function offerReplacing(form: HTMLFormElement): Promise<void> {
    await refresh()
    if (newest === undefined) return sayProblem(form, { code: 'changed', detail: GONE })
    sayProblem(form, { code: 'changed', detail: `Not saved. ${CHANGED}` })
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Put mine in its place'
    button.addEventListener('click', () => {
      form.dataset.ifMatch = newest
      form.requestSubmit()
    })
    form.querySelector('.problem-said')?.append(button)
  }
}

const CHANGED =
  'The plan was changed by somebody else while you wrote. Above is what it says now; your text is still here.'
const GONE =
  'The plan does not wait for approval any more, so nothing can be saved. Your text is still here to be copied.'
