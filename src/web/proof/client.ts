import { openAttaching, startProofAttaching } from './client/proof-attach.tsx'

/** Attaching proof: by its form, or as pictures that are dropped on the proof of a case or pasted. */
export function start(): void {
  startProofAttaching()
  document.addEventListener('dragover', (event) => {
    const card = cardOf(event)
    if (!card || !hasFiles(event)) return
    event.preventDefault()
    event.dataTransfer!.dropEffect = 'copy'
    card.setAttribute('data-drop', '')
    clearTimeout(leaving)
    // dragleave also comes for each element inside
    leaving = setTimeout(() => card.removeAttribute('data-drop'), 400)
  })
  document.addEventListener('drop', (event) => {
    const card = cardOf(event)
    if (!card || !hasFiles(event)) return
    event.preventDefault()
    card.removeAttribute('data-drop')
    openAttaching(event.dataTransfer!.files)
  })
  document.addEventListener('paste', (event) => {
    const files = event.clipboardData?.files
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (!files?.length || text !== '' || document.querySelector('dialog[open]')) return
    if (openAttaching(files)) event.preventDefault()
  })
}

let leaving: number | undefined

function cardOf(event: Event): HTMLElement | null {
  return event.target instanceof Element
    ? event.target.closest<HTMLElement>('#proof, #gate, #attach-proof')
    : null
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false
}
