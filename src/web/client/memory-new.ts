/** Forms with `data-opens` lead to the page of the memory file whose name is in them, there or not. */
export function startNewMemory(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.dataset.opens === undefined) return
    event.preventDefault()
    const { value } = form.elements.namedItem('filename') as HTMLInputElement
    location.assign(form.dataset.opens + encodeURIComponent(value))
  })
}
