import { parseRequirements } from '../../markdown/requirement-line.ts'
import { element } from '../client/dom.ts'
import { planNewCase, showWhyNotPlanned } from '../client/plan-new-case.ts'
import type { Sent } from '../client/send.ts'
import { RequirementItem } from './requirement-item.tsx'

/** The form of a new case: the requirements as they are written, and "Create and plan". */
export function start(): void {
  showWhyNotPlanned()
  const form = document.querySelector<HTMLFormElement>('#new-case')
  const text = form?.querySelector<HTMLTextAreaElement>('#new-checklist')
  if (!form || !text) return
  const show = () => showRequirements(text.value)
  text.addEventListener('input', show)
  for (const button of form.querySelectorAll<HTMLElement>('[data-requirement]')) {
    button.addEventListener('click', () => {
      const before = text.value.trimEnd()
      text.value = `${before}${before === '' ? '' : '\n'}${button.dataset.requirement}\n`
      text.dispatchEvent(new Event('input', { bubbles: true }))
      button.hidden = true
      text.focus()
    })
  }
  // what the browser restored after Back
  show()

  let wantsPlan = false
  form.addEventListener('submit', ({ submitter }) => {
    wantsPlan = submitter?.id === 'create-and-plan'
  })
  form.addEventListener('sent', (event) => {
    const { detail } = event as CustomEvent<Sent>
    if (!wantsPlan || !detail.ok) return
    event.preventDefault()
    void planNewCase(form, detail.body)
  })
}

function showRequirements(text: string): void {
  const items = parseRequirements(text)
  document.getElementById('requirements')!.hidden = items.length === 0
  document
    .getElementById('requirement-preview')!
    .replaceChildren(...items.map((item) => element(<RequirementItem item={item} />)))
}
