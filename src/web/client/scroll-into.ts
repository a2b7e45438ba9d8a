/** Brings an element of a list into its sight, with some room. `scrollIntoView` would scroll the page, too. */
export function scrollInto(list: Element | null, element: Element, room: number): void {
  if (!list) return
  const [all, own] = [list.getBoundingClientRect(), element.getBoundingClientRect()]
  if (own.top < all.top) list.scrollTop -= all.top - own.top + room
  else if (own.bottom > all.bottom) list.scrollTop += own.bottom - all.bottom + room
}
