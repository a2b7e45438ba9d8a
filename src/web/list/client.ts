import { startRowReturn, storeListAddress } from '../client/list-return.ts'
import { refresh, refreshAtMostEvery } from '../client/refresh.ts'
import { startSync } from './client/sync.tsx'

/** Every case of the workspace may change the list. */
const REFRESH_MS = 1000

/** Longer than the pause between two letters of a word, shorter than the one after it. */
const TYPING_MS = 150

/** Whether the address already shows this search: each letter replaces it, so Back leads to before the search. */
let isSearching = false
let typing: number | undefined

/** The page of cases: filters and pages are shown without loading it again. */
export function start(): void {
  if (document.body.dataset.page !== 'cases') return
  refreshAtMostEvery(REFRESH_MS)
  startFilters()
  startRowReturn()
  storeListAddress()
  startSync()
}

/** A filter changes the address, and the list is refreshed from it. */
function startFilters(): void {
  document.addEventListener('input', ({ target }) => {
    if (!isSearchField(target)) return
    clearTimeout(typing)
    typing = setTimeout(() => void search(target.form!), TYPING_MS)
  })
  // before keys.ts leaves the field: the browser would then empty it without an `input` event
  document.addEventListener('keydown', emptyField, { capture: true })
  document.addEventListener('change', ({ target }) => {
    if (isSearchField(target)) isSearching = false
    else if (target instanceof HTMLSelectElement && target.form?.id === 'filters')
      void show(formAddress(target.form))
  })
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id !== 'filters') return
    event.preventDefault()
    clearTimeout(typing)
    void search(form).then(() => document.querySelector<HTMLElement>('[data-row]')?.focus())
  })
  document.addEventListener('click', (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
      return
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-filter]')
    if (!link) return
    event.preventDefault()
    const isPage = link.rel === 'next' || link.rel === 'prev'
    void show(link.href).then(() => isPage && goToTop())
  })
  addEventListener('popstate', () => {
    isSearching = false
    clearTimeout(typing)
    showWords()
    storeListAddress()
    void refresh()
  })
}

/** Escape empties the search field, and leaves it if it is empty. */
function emptyField(event: KeyboardEvent): void {
  const field = event.target
  if (event.key !== 'Escape' || !isSearchField(field) || field.value === '') return
  event.preventDefault()
  clearTimeout(typing)
  field.value = ''
  void search(field.form!)
}

async function search(form: HTMLFormElement): Promise<void> {
  const address = formAddress(form)
  if (address === location.pathname + location.search) return
  const shown = show(address, isSearching ? 'replace' : 'push')
  isSearching = true
  await shown
}

async function show(address: string, how: 'push' | 'replace' = 'push'): Promise<void> {
  clearTimeout(typing)
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  isSearching = false
  storeListAddress()
  await refresh()
}

/** A new page starts at its first row. */
function goToTop(): void {
  document.querySelector<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
  scrollTo({ top: 0, behavior: 'instant' })
}

/** Without empty fields, and with readable commas. */
function formAddress(form: HTMLFormElement): string {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '')
  const query = fields.map(([name, value]) => {
    return `${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`
  })
  return query.length === 0 ? '/' : `/?${query.join('&')}`
}

/** A field that has the focus keeps its text through a refresh, but not through Back. */
function showWords(): void {
  const field = document.querySelector<HTMLInputElement>('#filter-q')
  if (field) field.value = new URLSearchParams(location.search).get('q') ?? ''
}

function isSearchField(target: EventTarget | null): target is HTMLInputElement {
  return target instanceof HTMLInputElement && target.id === 'filter-q'
}
