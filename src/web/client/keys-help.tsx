/** @jsxImportSource hono/jsx/dom */
import { element } from './dom.ts'

interface KeysHelp {
  /** Keys of one character, which can be turned off, and what they do. */
  single: [key: string, what: string][]
  areOn: boolean
  turn(on: boolean): void
}

const OTHERS: [key: string, what: string][] = [
  ['Enter', 'Open the row or link in focus'],
  ['Esc', 'Leave a field or dialog'],
  ['Ctrl Enter', 'Send the form'],
  ['Ctrl K', 'Search or jump to anything'],
]

/** A dialog with the keys of the page, and a switch for those of one character. */
export function showKeysHelp(help: KeysHelp): void {
  const dialog = document.createElement('dialog')
  dialog.className = 'keys-help'
  dialog.setAttribute('aria-labelledby', 'keys-help-title')
  dialog.append(element(<Content {...help} />))
  document.body.append(dialog)
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
}

function Content({ single, areOn, turn }: KeysHelp) {
  return (
    <>
      <h2 id="keys-help-title">Keys</h2>
      <label class="keys-switch">
        <input
          type="checkbox"
          checked={areOn}
          onChange={(event: Event) => turn((event.target as HTMLInputElement).checked)}
        />{' '}
        Use single keys (this browser remembers it)
      </label>
      <dl>
        {[...single, ...OTHERS].map(([key, what]) => (
          <>
            <dt>{key.split(' ').flatMap((each, at) => [at > 0 && ' ', <kbd>{each}</kbd>])}</dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <p class="small">
        <a href="/help">Help</a>: how Casefile works, and answers to common questions
      </p>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </>
  )
}
