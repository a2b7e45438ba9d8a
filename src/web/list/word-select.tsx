interface WordSelectProps {
  name: string
  label: string
  /** What it says where nothing is chosen. */
  all: string
  words: readonly string[]
  chosen: readonly string[]
}

/** One of the words that the cases have; nothing where they have none. What the address asks for is always among them. */
export function WordSelect({ name, label, all, words, chosen }: WordSelectProps) {
  const value = chosen.join(',')
  const options = value === '' || words.includes(value) ? words : [value, ...words]
  if (options.length === 0) return null
  const id = `filter-${name}`
  return (
    <div class="filter-word">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <select id={id} name={name}>
        <option value="" selected={value === ''}>
          {all}
        </option>
        {options.map((word) => (
          <option value={word} selected={word === value}>
            {word}
          </option>
        ))}
      </select>
    </div>
  )
}
