// Another site's link led here, so the browser held the cookie back. Ask once more as our own page, for the same place.
const place = new URL(location);
place.searchParams.set("token", "");
location.replace(place);
