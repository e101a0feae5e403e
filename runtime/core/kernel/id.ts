/** An id as the database knows ids. Anything else names nothing, and must not reach a uuid column. */
export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
