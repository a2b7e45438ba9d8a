import { directionOf } from '../../../rendering/direction.ts'
import { element } from '../../client/dom.ts'
import { isTyping } from '../../client/keys.ts'
import { closeEmptyComposers, composer } from './comment-composer.tsx'

/** Where a comment on a diff goes, as the API takes it. */
interface DiffLines {
  file: string
  side: 'old' | 'new'
  line: number
}

/**
 * Comments on lines of the changed files of a session: a button in the gutter of the line under the pointer or with the
 * focus, or the key `c`, opens a form below the line. What was written is also shown there.
 */
export function startDiffComments(): void {
  const button = element<HTMLButtonElement>(
    <button type="button" class="comment-plus" id="diff-comment-plus" data-own="">
      +
    </button>,
  )

  function offer(target: EventTarget | null): void {
    const cell = api() === null ? null : cellOf(target)
    const gutter = cell?.previousElementSibling
    if (!cell || !gutter) {
      if (!button.contains(target as Node)) button.remove()
      return
    }
    if (button.parentElement === gutter) return
    gutter.append(button)
    button.setAttribute('aria-label', `Comment on ${aboutOf(placeOf(cell))}`)
  }

  document.addEventListener('pointerover', ({ pointerType, target }) => {
    if (pointerType === 'mouse') offer(target)
  })
  document.addEventListener('focusin', ({ target }) => {
    if ((target as Element).closest('#changes td.line-number')) offer(target)
  })
  button.addEventListener('click', () => {
    const cell = cellOf(button)
    if (cell) open(cell)
  })
  document.addEventListener('keydown', (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
    if (event.key !== 'c' || !isPlain || isTyping(event.target) || api() === null) return
    const cell = (event.target as Element).closest('#changes tr') ? cellOf(event.target) : null
    if (!cell) return
    event.preventDefault()
    open(cell)
  })
  document.addEventListener('refreshed', showInPlace)
  document.addEventListener('toggle', showInPlace, true) // a file that was loaded or opened
  showInPlace()
}

/** The address of the comments; null if there can be none. */
function api(): string | null {
  return document.querySelector<HTMLElement>('#changes')?.dataset.comments ?? null
}

/** The code of the line: of a cell itself, else the code after a number, else the last one of the row. */
function cellOf(target: EventTarget | null): HTMLElement | null {
  if (!(target instanceof Element) || !target.closest('#changes')) return null
  const own = target.closest<HTMLElement>('td.code')
  if (own) return own.dataset.line === undefined ? null : own
  const number = target.closest('td.line-number')
  const next = number?.nextElementSibling
  if (next instanceof HTMLElement && next.dataset.line !== undefined) return next
  const cells = target.closest('tr')?.querySelectorAll<HTMLElement>('td.code[data-line]') ?? []
  return cells[cells.length - 1] ?? null
}

function placeOf(cell: HTMLElement): DiffLines {
  return {
    file: cell.closest<HTMLElement>('[data-file]')?.dataset.file ?? '',
    side: cell.dataset.side === 'old' ? 'old' : 'new',
    line: Number(cell.dataset.line),
  }
}

function aboutOf({ file, side, line }: DiffLines): string {
  return `${file} line ${line}${side === 'old' ? ' (before)' : ''}`
}

function open(cell: HTMLElement): void {
  const row = cell.closest('tr')!
  const below = row.nextElementSibling
  if (below?.matches('tr.comments:has(form)')) {
    below.querySelector('textarea')?.focus()
    return
  }
  closeEmptyComposers(undefined)
  const place = placeOf(cell)
  const form = composer({
    about: aboutOf(place),
    action: api()!,
    fields: [{ name: 'diff', value: JSON.stringify(place), list: 'json' }],
  })
  row.after(rowFor(row, form))
  form.querySelector('textarea')?.focus()
}

function rowFor(row: Element, content: HTMLElement): HTMLElement {
  const made = document.createElement('tr')
  made.className = 'comments'
  made.dataset.own = ''
  const cell = document.createElement('td')
  cell.colSpan = row.children.length
  cell.append(content)
  made.append(cell)
  return made
}

/** Shows each comment of the list above the files below its line, too, if that line is loaded. */
function showInPlace(): void {
  for (const row of document.querySelectorAll('#changes tr.comments:not(:has(form))')) row.remove()
  for (const comment of document.querySelectorAll<HTMLElement>(
    '#diff-comments .comment[data-place]',
  )) {
    const { file, side, line }: DiffLines = JSON.parse(comment.dataset.place!)
    const lines = document.querySelector(`#changes [data-file="${CSS.escape(file)}"]`)
    const cell = lines?.querySelector(`td.code[data-side=${side}][data-line="${line}"]`)
    const row = cell?.closest('tr')
    if (row) row.after(rowFor(row, shownIn(comment)))
  }
}

function shownIn(comment: HTMLElement): HTMLElement {
  const author = comment.querySelector('header strong')?.textContent ?? ''
  const text = comment.querySelector('.comment-text')?.textContent ?? ''
  return element(
    <div class="comment stack">
      <p class="small">
        <strong>{author}</strong> <a href={`#${comment.id}`}>Show</a>
      </p>
      <p class="comment-text" dir={directionOf(text)}>
        {text}
      </p>
    </div>,
  )
}
