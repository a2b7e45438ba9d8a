import { element } from '../../client/dom.ts'
import { showError } from '../../client/forms.tsx'
import { refresh } from '../../client/refresh.ts'
import type { Sent } from '../../client/send.ts'
import { closeEmptyComposers, composer, openComposers, showWhole } from './comment-composer.tsx'
import {
  insertAt,
  type Lines,
  linesText,
  placeAt,
  planText,
  presentPlan,
  type SelectedLines,
  selectedPlace,
} from './plan-lines.ts'

/**
 * Comments on lines of a plan that waits: a button beside the line under the pointer, or beside a selection, opens a
 * form below the line; the key `c` does so for a selection or the step that has the focus.
 */
export function startPlanComments(): void {
  const button = element<HTMLButtonElement>(
    <button type="button" class="comment-plus" id="comment-plus" data-own="" hidden>
      +
    </button>,
  )
  let place: SelectedLines | null = null
  let pointer = { x: -1, y: -1 }

  function show(found: SelectedLines | null, top: number): void {
    place = found
    const plan = document.getElementById('plan')
    button.hidden = found === null || plan === null
    if (!found || !plan) return
    if (!button.isConnected) plan.append(button)
    button.style.setProperty('--top', `${Math.max(0, top - plan.getBoundingClientRect().top)}px`)
    button.setAttribute('aria-label', `Comment on ${linesText(found.lines)}`)
    button.title = `Comment on ${linesText(found.lines)}`
  }

  function showAt({ x, y }: { x: number; y: number }): void {
    const text = planText()?.getBoundingClientRect()
    const isNear = text && y >= text.top && y <= text.bottom && x >= text.left - 40
    // from the margin, where the button is, the line is looked up in the text beside it
    const found = isNear ? placeAt(Math.max(x, text.left + 8), y) : null
    show(found, found ? topOf(found, y) : 0)
  }

  document.addEventListener('pointermove', ({ pointerType, clientX, clientY, target }) => {
    if (pointerType !== 'mouse' || target === button || !planText()) return
    pointer = { x: clientX, y: clientY }
    if (!selectedPlace()) showAt(pointer)
  })
  // the plan may be another one, or gone
  document.addEventListener('refreshed', () => {
    if (!selectedPlace()) showAt(pointer)
  })
  document.addEventListener('selectionchange', () => {
    const found = planText() ? selectedPlace() : null
    if (!found) return
    const boxes = getSelection()!.getRangeAt(0).getClientRects()
    show(found, boxes[boxes.length - 1]?.top ?? topOf(found, 0))
  })
  button.addEventListener('click', () => {
    if (place) openComposer(place)
  })
  document.addEventListener(
    'click',
    (event) => {
      const target = event.target as Element
      const step = target.closest('.step-comment')?.closest<HTMLElement>('[data-lines]')
      if (step) openComposer(placeOfStep(step))
      if (!target.closest('[data-opens=comment]')) return
      const focused = document.activeElement?.closest<HTMLElement>('figure.step[data-lines]')
      const found = selectedPlace() ?? (focused && planText() ? placeOfStep(focused) : null)
      if (!found) return
      event.preventDefault()
      event.stopPropagation()
      openComposer(found)
    },
    true, // before the disclosure that the button opens
  )
  document.addEventListener('sent', (event) => void onSent(event as CustomEvent<Sent>))
  showButtons()
  document.addEventListener('refreshed', showButtons)
}

/** A button on each step of a plan that waits. */
function showButtons(): void {
  if (planText() === null) {
    const left = '.step-actions, #plan .comment-composer:not([data-dirty])'
    for (const each of document.querySelectorAll(left)) each.remove()
  }
  for (const caption of planText()?.querySelectorAll('figure.step > figcaption') ?? []) {
    if (caption.querySelector('.step-actions')) continue
    const name = caption.querySelector('.step-id')?.textContent ?? ''
    caption.append(
      element(
        <span class="step-actions" data-own="">
          <button type="button" class="quiet compact step-comment">
            Comment<span class="visually-hidden"> on step {name}</span>
          </button>
        </span>,
      ),
    )
  }
}

/** The top of the line at this height, or of its block. */
function topOf({ block, lines }: SelectedLines, y: number): number {
  const box = block.getBoundingClientRect()
  const isOneOfMany = block.matches('figure.step, pre, .table-scroll') && lines.from === lines.to
  return isOneOfMany ? Math.max(box.top, y - 12) : box.top
}

function placeOfStep(step: HTMLElement): SelectedLines {
  const [from = 1] = (step.dataset.lines ?? '').split('-').map(Number)
  return { lines: { from, to: from }, block: step }
}

function openComposer(place: SelectedLines): void {
  const { lines } = place
  const same = openComposers().find((form) => fieldValue(form, 'lines') === wordOf(lines))
  closeEmptyComposers(same)
  const form = same ?? composerFor(place)
  if (!same) insertAt(place, form)
  getSelection()?.removeAllRanges()
  showWhole(form)
}

function composerFor({ lines }: SelectedLines): HTMLFormElement {
  const { source, hash } = presentPlan()
  const written = source.split('\n').slice(lines.from - 1, lines.to)
  return composer({
    about: linesText(lines),
    action: planText()!.dataset.comments!,
    fields: [
      { name: 'plan_sha256', value: hash },
      { name: 'lines', value: wordOf(lines), list: 'lines' },
      { name: 'quote', value: written.join('\n') },
    ],
  })
}

/** If the plan changed meanwhile, the comment moves with its lines. */
async function onSent(event: CustomEvent<Sent>): Promise<void> {
  const form = event.target as HTMLFormElement
  const { detail } = event
  if (!form.matches('.comment-composer, #comment-form') || detail.ok) return
  if (detail.problem.code !== 'plan_changed') return
  event.preventDefault()
  await refresh()
  moveToPresentPlan(form)
}

/** Finds the lines of a comment in the plan as it is now; the operator sends it again. */
function moveToPresentPlan(form: HTMLFormElement): void {
  const { source, hash } = presentPlan()
  setValue(form, 'plan_sha256', hash)
  if (form.id === 'comment-form') {
    const detail = 'The plan changed meanwhile. Check the line numbers, then add the comment again.'
    showError(form, { code: 'plan_changed', detail })
    return
  }
  const quoted = fieldValue(form, 'quote')
  const lines = source.split('\n')
  const count = quoted.split('\n').length
  const from = lines.findIndex(
    (_, index) => lines.slice(index, index + count).join('\n') === quoted,
  )
  const found = quoted.trim() !== '' && from >= 0 ? { from: from + 1, to: from + count } : null
  setValue(form, 'lines', found ? wordOf(found) : '')
  if (!found) setValue(form, 'quote', '')
  const label = form.querySelector('label')
  if (label) label.textContent = `Comment on ${found ? linesText(found) : 'the plan'}`
  showError(form, {
    code: 'plan_changed',
    detail: found
      ? `The plan changed meanwhile. These are ${linesText(found)} now. Add the comment again if it still fits.`
      : 'The plan changed meanwhile, and these lines are gone. Add it again to comment on the whole plan.',
  })
}

function wordOf({ from, to }: Lines): string {
  return from === to ? String(from) : `${from}-${to}`
}

function fieldValue(form: HTMLFormElement, name: string): string {
  return (form.elements.namedItem(name) as HTMLInputElement | null)?.value ?? ''
}

function setValue(form: HTMLFormElement, name: string, value: string): void {
  const control = form.elements.namedItem(name)
  if (control instanceof HTMLInputElement) {
    control.defaultValue = value
    control.value = value
  }
}
