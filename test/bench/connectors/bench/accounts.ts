/** A hundred accounts of about 280 bytes each, which every contender lists. */
export const accounts = Array.from({ length: 100 }, (_, index) => ({
  integration_specific_id: `00u${String(index).padStart(17, 'x')}`,
  email: `person.number${index}@example.com`,
  given_name: `Person${index}`,
  family_name: `Number${index}`,
  username: `person.number${index}`,
  user_status: 'ACTIVE' as const,
  extra_data: { department: 'Research and development', cost_center: `CC-${index % 17}` },
  custom_attributes: { title: 'Engineer' },
  account_type: 'user' as const,
}))
