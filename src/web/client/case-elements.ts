type Child = Node | string | null

/** An element with attributes and children; an attribute that is true has no value. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | boolean> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, '')
    else if (value !== false) element.setAttribute(key, value)
  }
  element.append(...children.filter((child) => child !== null))
  return element
}

export function button(text: string, onClick: () => void, className = ''): HTMLButtonElement {
  const made = make('button', { type: 'button', class: className }, text)
  made.addEventListener('click', onClick)
  return made
}
