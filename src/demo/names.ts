/** Names and texts of the simulated sites: invented people and businesses, and what they write. */

export const BUSINESSES = [
  'Bakery',
  'Dental Practice',
  'Law Office',
  'Bike Shop',
  'Yoga Studio',
  'Brewery',
  'Architects',
  'Hotel',
  'Music School',
  'Garden Centre',
  'Travel Agency',
  'Choir',
  'Bookshop',
  'Winery',
  'Photography',
  'Football Club',
] as const;

export const FAMILIES = [
  'Hofmann',
  'Okafor',
  'Lindqvist',
  'Moreau',
  'Tanaka',
  'Novak',
  'Silva',
  'Byrne',
  'Rossi',
  'Jansen',
  'Kaya',
  'Wójcik',
  'Fernández',
  'Nguyen',
  'Haddad',
  'O’Neill',
] as const;

export const GIVEN = ['anna', 'ben', 'chiara', 'david', 'elif', 'femi', 'greta', 'hugo', 'ines', 'jonas'] as const;

export const POST_TITLES = [
  'Hello world!',
  'Our new opening hours',
  'A look behind the scenes',
  'Five questions we hear often',
  'Summer holidays',
  'We are hiring',
  'Looking back on the year',
  'How we choose our suppliers',
  'Meet the team',
  'A short history of us',
  'Tips & tricks for beginners',
  'What "sustainable" means to us',
  'News from the workshop',
  'Save the date',
] as const;

export const PAGE_TITLES = ['Sample Page', 'About us', 'Contact', 'Privacy Policy', 'Imprint', 'Prices'] as const;

export const REMARKS = [
  'Thank you, that helped me a lot.',
  'When will you open again?',
  'Great article &#8211; greetings from next door!',
  'Is this still up to date?',
  'I had the same problem last week.',
  '<a href="http://casino.example">Win now</a>',
] as const;
