import { diffTable } from './case-diff.ts'
import { button, make } from './case-elements.ts'
import { conflictPanel } from './conflict-panel.ts'
import type { MemoryFile } from './memory-file.ts'
import { shownText } from './memory-lines.ts'

interface Choices {
  /** Writes what is being edited over what is there now. */
  keepMine(): void
  takeTheirs(): void
  goOn(): void
}

/** What stands in the file now beside what is being written. */
export function memoryConflict(now: MemoryFile, mine: string, choices: Choices): HTMLElement {
  const isGone = now.etag === null
  const takes = now.text !== null && !isGone
  return conflictPanel({
    title: `The file was ${isGone ? 'deleted' : 'changed'} while you were editing.`,
    more: 'Nothing of yours is lost.',
    shown: shownOf(now, mine),
    keepMine: { label: isGone ? 'Write mine anew' : 'Keep mine over it', run: choices.keepMine },
    takeTheirs: takes ? { label: 'Take what is there', run: choices.takeTheirs } : null,
    goOn: choices.goOn,
  })
}

function shownOf({ etag, text }: MemoryFile, mine: string): HTMLElement[] {
  if (text === null)
    return [make('p', {}, 'What is there now is not UTF-8, so it cannot be shown.')]
  if (etag === null) return []
  return [
    make('p', { class: 'small' }, 'With − what is there now, with + what you have instead:'),
    diffTable(shownText(text), mine, 'What is there now, and what you have'),
  ]
}

export function unsavedPanel(choices: { throwAway(): void; goOn(): void }): HTMLElement {
  return make(
    'div',
    { class: 'notice', 'data-kind': 'warn', role: 'alert' },
    make('p', {}, 'What you have written is not saved.'),
    make(
      'div',
      { class: 'actions' },
      button('Throw it away', choices.throwAway, 'danger'),
      button('Go on editing', choices.goOn),
    ),
  )
}
