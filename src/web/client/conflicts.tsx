import { HunksView } from '../../rendering/diff/hunks-view.tsx'
import { diffTexts } from '../../rendering/diff/texts.ts'
import { element } from './dom.ts'
import { type Control, controlsOf, defaultOf, isChanged, isControlChanged } from './form-fields.ts'
import { showError } from './forms.tsx'
import { notify } from './notices.ts'
import { beforeRefresh, refresh } from './refresh.ts'
import type { Sent } from './send.ts'

/** One field, or the whole text: what somebody else saved, and what the operator typed. */
interface Change {
  label: string
  theirs: string
  mine: string
}

interface ConflictPanelProps {
  /** "The case", "The file", "The plan". */
  subject: string
  /** Instead of "changed". */
  what?: string
  changes: readonly Change[]
  /** The label of the button that calls `onOverwrite`. */
  overwrite?: string
  onOverwrite(): void
  /** Missing if theirs can't be used. */
  onUseTheirs?: (() => void) | undefined
  onKeepEditing(): void
}

/** Shows what somebody else changed while the operator was editing, and lets them choose. */
export function conflictPanel(props: ConflictPanelProps): HTMLElement {
  const { subject, what = 'changed', changes, overwrite = 'Overwrite with mine' } = props
  const { onOverwrite, onUseTheirs, onKeepEditing } = props
  return element(
    <div class="notice conflict" data-tone="warn" data-own="" role="alert">
      <p>
        <strong>
          {subject} {what} while you were editing.
        </strong>{' '}
        Nothing you typed is lost.
      </p>
      {changes.map((change) => (
        <ChangeView change={change} />
      ))}
      <div class="actions">
        <button type="button" onClick={onOverwrite}>
          {overwrite}
        </button>
        {onUseTheirs && (
          <button type="button" onClick={onUseTheirs}>
            Use theirs
          </button>
        )}
        <button type="button" onClick={onKeepEditing}>
          Keep editing
        </button>
      </div>
    </div>,
  )
}

const MAX_LINES = 400

function ChangeView({ change: { label, theirs, mine } }: { change: Change }) {
  if (!theirs.includes('\n') && !mine.includes('\n')) {
    return (
      <p>
        {label} on disk: {theirs === '' ? <em>empty</em> : <strong>{theirs}</strong>}
      </p>
    )
  }
  const diff = diffTexts(theirs, mine)
  return (
    <>
      <p class="small">{label}: − on disk, + yours</p>
      {diff ? (
        <div class="diff-box">
          <HunksView
            hunks={diff.hunks}
            label={`${label}: − on disk, + yours`}
            maxLines={MAX_LINES}
          />
        </div>
      ) : (
        <p class="muted small">The two texts are too different to compare here.</p>
      )}
    </>
  )
}

/** After "Use theirs": the way back. */
export function restorePanel(onRestore: () => void): HTMLElement {
  return element(
    <div class="notice conflict" data-own="" role="status">
      <p>This is their version. Yours is kept until you save or leave this page.</p>
      <div class="actions">
        <button type="button" onClick={onRestore}>
          Restore mine
        </button>
      </div>
    </div>,
  )
}

/**
 * Forms with `data-conflict`, which names what they change. A form that is open or written in is not refreshed with the
 * page. Fields that the operator has not touched follow the page; if somebody changes a field that they have touched,
 * the form shows both, and nothing is saved before the operator has chosen.
 */
export function startConflicts(): void {
  const panels = new WeakMap<HTMLFormElement, HTMLElement>()
  const resent = new WeakSet<HTMLFormElement>()

  function clear(form: HTMLFormElement): void {
    panels.get(form)?.remove()
    panels.delete(form)
  }

  function show(form: HTMLFormElement, panel: HTMLElement): void {
    clear(form)
    panels.set(form, panel)
    form.append(panel)
  }

  beforeRefresh((next) => {
    for (const form of document.querySelectorAll<HTMLFormElement>('form[data-conflict]')) {
      if (!form.matches('[data-dirty], details.disclosure[open] form')) continue
      const current = next.getElementById(form.id)
      if (current instanceof HTMLFormElement) update(form, current)
      else if (form.hasAttribute('data-dirty'))
        showError(form, { code: 'gone', detail: `${form.dataset.conflict} ${GONE}` })
    }
  })

  function update(form: HTMLFormElement, current: HTMLFormElement): void {
    const { ifMatch = '', about } = current.dataset
    const wasAbout = form.dataset.about
    const isAboutOther = about !== undefined && wasAbout !== undefined && about !== wasAbout
    const conflicts: { control: Control; theirs: string }[] = []
    for (const control of controlsOf(form)) {
      const other = current.elements.namedItem(control.name)
      if (!(other instanceof HTMLElement)) continue
      const theirs = defaultOf(other as Control)
      if (theirs === defaultOf(control)) continue
      if (isControlChanged(control) && control.value !== theirs) conflicts.push({ control, theirs })
      else setBoth(control, theirs)
    }
    form.toggleAttribute('data-dirty', isChanged(form))
    const rebase = () => {
      for (const { control, theirs } of conflicts) setDefault(control, theirs)
      form.dataset.ifMatch = ifMatch
      if (about !== undefined) form.dataset.about = about
      clear(form)
      changed(form)
    }
    if (conflicts.length === 0 && !isAboutOther) {
      rebase()
      return
    }
    show(
      form,
      conflictPanel({
        subject: form.dataset.conflict!,
        changes: [
          ...(isAboutOther ? [{ label: 'Question', theirs: about, mine: wasAbout }] : []),
          ...conflicts.map(({ control, theirs }) => ({
            label: labelOf(control),
            theirs,
            mine: control.value,
          })),
        ],
        overwrite: isAboutOther ? 'Send my answer anyway' : 'Overwrite with mine',
        onOverwrite() {
          rebase()
          form.requestSubmit()
        },
        onUseTheirs: isAboutOther
          ? undefined
          : () => {
              const mine = conflicts.map(({ control }) => ({ control, value: control.value }))
              for (const { control, theirs } of conflicts) control.value = theirs
              rebase()
              show(
                form,
                restorePanel(() => {
                  for (const { control, value } of mine) control.value = value
                  clear(form)
                  changed(form)
                  mine[0]?.control.focus()
                }),
              )
            },
        onKeepEditing() {
          rebase()
          conflicts[0]?.control.focus()
        },
      }),
    )
  }

  document.addEventListener('reset', ({ target }) => clear(target as HTMLFormElement))
  document.addEventListener('sent', (event) => {
    const { target: form, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    if (form.dataset.conflict === undefined) return
    if (detail.ok) {
      resent.delete(form)
      clear(form)
    } else if (detail.status === 412) {
      event.preventDefault()
      void afterRejection(form, form.dataset.conflict)
    }
  })

  /** The page is refreshed, which shows the conflict; if nothing in the form conflicts, it is sent again. */
  async function afterRejection(form: HTMLFormElement, subject: string): Promise<void> {
    const isCurrent = await refresh()
    if (!isCurrent)
      return showError(form, {
        code: 'conflict',
        detail: `Not saved: ${subject.toLowerCase()} changed while you were editing, and the current version can't be read. Your text is still here.`,
      })
    const panel = panels.get(form)
    if (panel) return panel.scrollIntoView({ block: 'nearest' })
    if (form.querySelector(':scope > .form-error')) return
    if (resent.has(form)) {
      resent.delete(form)
      return showError(form, {
        code: 'conflict',
        detail: `Not saved: ${subject.toLowerCase()} keeps changing. Try again.`,
      })
    }
    resent.add(form)
    form.requestSubmit()
  }
}

const GONE = "can't be edited any more, so your text can't be saved. It's still here to copy."

function setDefault(control: Control, value: string): void {
  if (!(control instanceof HTMLSelectElement)) {
    control.defaultValue = value
    return
  }
  for (const option of control.options) option.defaultSelected = option.value === value
}

/** For a field that the operator has not touched. */
function setBoth(control: Control, value: string): void {
  setDefault(control, value)
  control.value = value
}

/** Tells listeners that the script changed the fields. */
function changed(form: HTMLFormElement): void {
  form.toggleAttribute('data-dirty', isChanged(form))
  form.dispatchEvent(new Event('input', { bubbles: true }))
}

function labelOf(control: Control): string {
  return control.labels?.[0]?.textContent ?? control.name
}

/**
 * A form that verifies a proof is for the content that the page showed. If a refresh brings other content, it asks
 * first; if the service has other content, the page is refreshed.
 */
export function startVerifying(): void {
  const shown = new Map<string, string | undefined>()
  const check = () => {
    for (const form of document.querySelectorAll<HTMLFormElement>('.verify-form')) {
      const { ifMatch } = form.dataset
      if (!shown.has(form.id)) shown.set(form.id, ifMatch)
      else if (shown.get(form.id) !== ifMatch)
        form.dataset.confirm =
          'This proof changed while the page was open. Verify its current content?'
    }
  }
  check()
  document.addEventListener('refreshed', check)
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLElement }
    if (!target.matches('.verify-form') || detail.ok || detail.status !== 412) return
    event.preventDefault()
    notify('Not verified: the proof changed. Read its current content.')
    void refresh()
  })
}
