/** What counts as an e-mail address of a person. */

/** Longest address (RFC 5321 section 4.5.3.1.3, without its brackets). */
const MAX_EMAIL_LENGTH = 254

/** An address as people have them; what a mail server thinks of it only that server knows. */
export const isEmail = (text: string): boolean =>
  text.length <= MAX_EMAIL_LENGTH &&
  /^[^\p{C}\s@"(),:;<>[\]\\]{1,64}@[^\p{C}\s@"(),:;<>[\]\\.]+(\.[^\p{C}\s@"(),:;<>[\]\\.]+)*$/u.test(
    text,
  )
