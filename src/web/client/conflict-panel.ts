import { button, make } from './case-elements.ts'

interface Conflict {
  /** What happened. */
  title: string
  /** What it means. */
  more: string
  /** What there is now. */
  shown: readonly HTMLElement[]
  keepMine: { label: string; run(): void }
  /** Null where what is there cannot be taken. */
  takeTheirs: { label: string; run(): void } | null
  goOn?: () => void
}

/** Shows what there is now beside what is being written, and lets the operator choose. */
export function conflictPanel({ title, more, shown, ...choices }: Conflict): HTMLElement {
  const { keepMine, takeTheirs, goOn } = choices
  return make(
    'div',
    { class: 'notice conflict', 'data-kind': 'warn', role: 'alert' },
    make('p', {}, make('strong', {}, title), ` ${more}`),
    ...shown,
    make(
      'div',
      { class: 'actions' },
      button(keepMine.label, keepMine.run),
      takeTheirs && button(takeTheirs.label, takeTheirs.run),
      goOn ? button('Go on editing mine', goOn) : null,
    ),
  )
}

/** The other text has taken the place of one's own, which stays at hand. */
export function keptPanel(putBack: () => void): HTMLElement {
  const text = 'This is what is there now. What you wrote is kept until you save or leave.'
  const back = make('div', { class: 'actions' }, button('Put mine back', putBack))
  return make('div', { class: 'notice conflict', role: 'status' }, make('p', {}, text), back)
}
