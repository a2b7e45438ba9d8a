interface SearchFieldProps {
  id: string
  value: string
  label: string
  autofocus?: boolean
}

/** The search field of a page; `/` focuses it. */
export function SearchField({ id, value, label, autofocus = false }: SearchFieldProps) {
  return (
    <div class="filter-text">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <input
        id={id}
        type="search"
        name="q"
        value={value}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        autofocus={autofocus}
        data-key="/"
        data-key-name="Search"
      />
      <kbd class="needs-script">/</kbd>
    </div>
  )
}
