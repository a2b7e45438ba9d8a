import { element } from '../../client/dom.ts'
import { showError } from '../../client/forms.tsx'
import { showWhole } from './comment-composer.tsx'
import { type Lines, linesOf, planText, presentPlan } from './plan-lines.ts'

/** Buttons on each step of a plan that waits: comment on it, or edit its lines in place. */
export function startStepEdit(): void {
  showButtons()
  document.addEventListener('refreshed', showButtons)
  document.addEventListener('click', ({ target }) => {
    const step = (target as Element)
      .closest('.step-edit-button')
      ?.closest<HTMLElement>('figure[data-lines]')
    if (step) openEditor(step)
  })
  document.addEventListener('reset', ({ target }) => {
    if ((target as Element).matches('.step-edit')) close(target as HTMLFormElement)
  })
  document.addEventListener('keydown', (event) => {
    const form = (event.target as Element).closest?.<HTMLFormElement>('.step-edit')
    if (event.key === 'Escape' && form && !form.hasAttribute('data-dirty')) close(form)
  })
  document.addEventListener('sent', (event) => {
    const form = event.target as HTMLElement
    if (form.matches('.step-edit') && (event as CustomEvent<{ ok: boolean }>).detail.ok)
      close(form as HTMLFormElement)
  })
  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target as HTMLFormElement
      if (form.matches('.step-edit') && !complete(form)) {
        event.preventDefault()
        event.stopPropagation()
      }
    },
    true, // before it is sent
  )
}

function showButtons(): void {
  const isOpen = planText() !== null
  if (!isOpen) for (const actions of document.querySelectorAll('.step-actions')) actions.remove()
  if (!isOpen) for (const form of untouchedEditors()) form.remove()
  for (const caption of planText()?.querySelectorAll('figure.step > figcaption') ?? []) {
    if (caption.querySelector('.step-actions')) continue
    const name = caption.querySelector('.step-id')?.textContent ?? ''
    caption.append(
      element(
        <span class="step-actions" data-own="">
          <button type="button" class="quiet compact step-comment">
            Comment<span class="visually-hidden"> on step {name}</span>
          </button>
          <button type="button" class="quiet compact step-edit-button">
            Edit<span class="visually-hidden"> step {name}</span>
          </button>
        </span>,
      ),
    )
  }
}

function untouchedEditors(): NodeListOf<HTMLElement> {
  return document.querySelectorAll('#plan :is(.step-edit, .comment-composer):not([data-dirty])')
}

function openEditor(step: HTMLElement): void {
  const next = step.nextElementSibling
  if (next instanceof HTMLElement && next.matches('.step-edit')) {
    showWhole(next)
    return
  }
  const { source, hash } = presentPlan()
  const { from, to } = linesOf(step)
  const text = source
    .split('\n')
    .slice(from - 1, to)
    .join('\n')
  const form = element<HTMLFormElement>(
    <form
      class="form step-edit"
      data-own=""
      data-send="PUT"
      action={document.querySelector('#edit-form')?.getAttribute('action') ?? ''}
      data-lines={`${from}-${to}`}
      data-about={hash}
    >
      <input type="hidden" name="plan" />
      <label>
        Step {step.dataset.step}, lines {from}–{to}
        <textarea class="code" rows={Math.min(24, to - from + 3)} spellcheck={false} />
      </label>
      <div class="actions">
        <button type="submit" class="primary compact">
          Save step
        </button>
        <button type="reset" class="quiet compact">
          Cancel
        </button>
        <span class="muted small">Saving starts nothing.</span>
      </div>
    </form>,
  )
  step.after(form) // the style sheet hides the step as long as the form is there
  form.querySelector('textarea')!.defaultValue = text
  showWhole(form)
}

function close(form: HTMLFormElement): void {
  const step = form.previousElementSibling
  if (step instanceof HTMLElement && step.matches('figure.step')) {
    step.focus()
  }
  form.remove()
}

/** Puts the whole plan with the edited lines into the form. False if the plan is over, or another one by now. */
function complete(form: HTMLFormElement): boolean {
  if (planText() === null) {
    showError(form, {
      code: 'wrong_state',
      detail:
        'The plan no longer waits for approval, so it cannot be edited, and this was not saved. Copy your text, and cancel.',
    })
    return false
  }
  const { source, hash } = presentPlan()
  const plan = form.elements.namedItem('plan') as HTMLInputElement
  const text = form.querySelector('textarea')!.value
  if (form.dataset.about !== hash) {
    showError(form, {
      code: 'plan_changed',
      detail:
        'The plan changed while you were editing this step, so it was not saved. Copy your text, cancel, and edit the step again.',
    })
    return false
  }
  plan.value = withLines(source, linesOf(form), text)
  form.dataset.ifMatch = document.querySelector<HTMLElement>('#edit-form')?.dataset.ifMatch ?? ''
  return true
}

function withLines(source: string, { from, to }: Lines, text: string): string {
  const lines = source.split('\n')
  lines.splice(from - 1, to - from + 1, ...text.replace(/(?<!\n)\n+$/, '').split('\n'))
  return lines.join('\n')
}
