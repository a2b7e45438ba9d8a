interface WordSelectProps {
  name: string
  label: string
  /** What it says where nothing is chosen. */
  all: string
  words: readonly string[]
  chosen: readonly string[]
  /** How a word is shown; as it is without it. */
  text?: (word: string) => string
}

/** A choice of the words that the cases have; nothing if they have none. What the address asks for is always among them. */
export function WordSelect({
  name,
  label,
  all,
  words,
  chosen,
  text = (word) => word,
}: WordSelectProps) {
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
            {word.split(',').map(text).join(', ')}
          </option>
        ))}
      </select>
    </div>
  )
}
